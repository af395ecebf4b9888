package ingest

import (
	"cmp"
	"encoding/json"
	"strings"

	"pmx/data"
)

// Receipt is the result of importing a file. Every row is counted once: as inserted, already there,
// identical, superseded, waiting, passed or rejected, or as a row of payouts in a file of fills.
// Instead of inserted, rows of the weather are counted as forecasts, actuals, observations and
// normals, rows of markets and payouts as new and changed markets, mappings as mapped tokens, and
// times of blocks as blocks.
type Receipt struct {
	File string `json:"file"`
	Feed string `json:"feed"`
	Rule string `json:"rule,omitempty"` // how repeats are distinguished from separate fills

	Read         int64            `json:"read"`          // fills, markets, payouts and mappings that the file gives
	Inserted     int64            `json:"inserted"`      // fills added, including those that replace others
	Replaced     int64            `json:"replaced"`      // of these, fills that replace one with fewer details, or one that contradicts them
	AlreadyThere int64            `json:"already_there"` // rows known before
	Identical    int64            `json:"identical"`     // rows that repeat another one of this file, and further rows about the same market, token or block
	Superseded   int64            `json:"superseded"`    // rows of the weather with a later value for the same subject and time, and fills that are replaced by another with the same log
	Waiting      int64            `json:"waiting"`       // fills kept until their market is known
	Released     int64            `json:"released"`      // waiting fills that were imported because of this file's markets
	Rejected     map[string]int64 `json:"rejected"`      // by reason
	// Passed counts valid rows that give nothing, by reason.
	Passed       map[data.Passed]int64 `json:"passed,omitempty"`
	Lines        Lines                 `json:"lines"`
	RejectedFile string                `json:"rejected_file,omitempty"`
	Unmapped     int64                 `json:"unmapped"` // inserted fills whose token has no market yet

	// Notes counts unusual things about rows that are imported nevertheless, by reason.
	Notes      map[string]int64 `json:"notes,omitempty"`
	PayoutRows int64            `json:"payout_rows,omitempty"` // rows of payouts in a file of fills

	MarketsNew     int64 `json:"markets_new"`
	MarketsChanged int64 `json:"markets_changed"`
	Resolutions    int64 `json:"resolutions"` // payouts set or corrected
	// Conflicts counts markets whose payouts or time of resolution in the file contradict what is
	// known from equal source and version or by a correction, and logs, tokens and blocks for which
	// there are different values in the file, or in the file and the database.
	Conflicts       int64    `json:"conflicts"`
	ConflictMarkets []string `json:"conflict_markets,omitempty"` // the first of them
	ConflictFills   []string `json:"conflict_fills,omitempty"`   // the first of them, as transaction:log index
	ConflictTokens  []string `json:"conflict_tokens,omitempty"`  // the first of those that several markets claim
	ConflictBlocks  []int64  `json:"conflict_blocks,omitempty"`  // the first of those with several times
	// Overruled counts payouts that differ from the used ones, which have a better source or a
	// later version.
	Overruled    int64 `json:"overruled"`
	Correct      bool  `json:"correct,omitempty"` // the payouts were made the newest of their source
	TokensMapped int64 `json:"tokens_mapped"`
	// FinalPricesNotTaken counts markets whose prices look like payouts but are not used as such,
	// by reason.
	FinalPricesNotTaken map[data.Untaken]int64 `json:"final_prices_not_taken,omitempty"`

	Blocks int64 `json:"blocks"` // blocks added
	// Merged counts known fills that were removed because they are the same as one that lost its
	// log or, since their block has an earlier time, as another fill.
	Merged int64 `json:"merged,omitempty"`

	Forecasts    int64 `json:"forecasts"`    // values of the weather added, including corrections
	Actuals      int64 `json:"actuals"`      // extremes of past days added
	Observations int64 `json:"observations"` // temperatures of stations added
	Normals      int64 `json:"normals"`      // normals added
	Withdrawn    int64 `json:"withdrawn"`    // of all these, withdrawals by the source
	Corrected    int64 `json:"corrected"`    // of all these, replacements of another value for the same subject and time

	From    string     `json:"from,omitempty"` // first and last inserted fill, RFC 3339
	To      string     `json:"to,omitempty"`
	BuyUSD  data.Micro `json:"buy_usd"`
	SellUSD data.Micro `json:"sell_usd"`

	Seconds       float64 `json:"seconds"`
	DryRun        bool    `json:"dry_run,omitempty"`
	RebuildNeeded bool    `json:"rebuild_needed,omitempty"`
	// Warning is an error that occurred after the file was imported; nothing of the file is lost.
	Warning string `json:"warning,omitempty"`

	minTS, maxTS int64
	named        int64 // tokens whose label changed
	late         bool  // a block has several times: known fills may have one that no longer applies
}

// Lines counts the lines of a text file by kind. For JSON and Parquet only the records are counted.
type Lines struct {
	Total     int64 `json:"total"`     // the number of line ends; the sum of all others
	Records   int64 `json:"records"`   // each gives at least one row
	Continued int64 `json:"continued"` // further lines of records, inside quoted cells
	Header    int64 `json:"header"`
	Blank     int64 `json:"blank"`
	Remarks   int64 `json:"remarks"` // titles, remarks and legends
}

// add counts n lines.
func (l *Lines) add(kind data.LineKind, n int64) {
	switch kind {
	case data.LineRecord, data.LineLater:
		l.Records++
		l.Continued += n - 1
	case data.LineHeader:
		l.Header += n
	case data.LineBlank:
		l.Blank += n
	case data.LineRemark:
		l.Remarks += n
	}
}

// PassedRows returns the number of rows that were passed over, for any reason.
func (r *Receipt) PassedRows() int64 {
	n := int64(0)
	for _, c := range r.Passed {
		n += c
	}
	return n
}

// pass counts a row that gives nothing.
func (r *Receipt) pass(why data.Passed) {
	if why == data.PassedRepeated {
		r.Identical++
		return
	}
	if r.Passed == nil {
		r.Passed = map[data.Passed]int64{}
	}
	r.Passed[why]++
}

// RejectedRows returns the number of rejected rows, for any reason.
func (r *Receipt) RejectedRows() int64 {
	n := int64(0)
	for _, c := range r.Rejected {
		n += c
	}
	return n
}

// untaken counts a market whose final prices are not used.
func (r *Receipt) untaken(m *data.Market) {
	if m.Resolution != nil || m.Untaken == "" {
		return
	}
	if r.FinalPricesNotTaken == nil {
		r.FinalPricesNotTaken = map[data.Untaken]int64{}
	}
	r.FinalPricesNotTaken[m.Untaken]++
}

// warn records an error that came too late to refuse the file.
func (r *Receipt) warn(err error) {
	if err != nil {
		r.Warning = strings.TrimPrefix(r.Warning+"; "+err.Error(), "; ")
	}
}

// after adds the result of releasing waiting fills.
func (r *Receipt) after(w Receipt, err error) {
	r.Released, r.RebuildNeeded = w.Inserted, r.RebuildNeeded || w.RebuildNeeded
	r.Merged += w.Merged
	r.Conflicts += w.Conflicts
	r.ConflictFills = append(r.ConflictFills, w.ConflictFills[:min(len(w.ConflictFills), namedConflicts-len(r.ConflictFills))]...)
	r.RejectedFile = cmp.Or(r.RejectedFile, w.RejectedFile)
	r.late = r.late || w.late
	r.warn(err)
}

// afterMove adds the result for fills whose time of their block changed.
func (r *Receipt) afterMove(w Receipt, err error) {
	r.Merged += w.Merged
	r.RebuildNeeded = r.RebuildNeeded || w.RebuildNeeded
	r.warn(err)
}

func (r *Receipt) nothingNew() bool {
	return r.Inserted == 0 && r.MarketsNew == 0 && r.MarketsChanged == 0 && r.Resolutions == 0 && r.TokensMapped == 0 && r.Blocks == 0 &&
		r.weather() == 0 && r.named == 0
}

// weather returns the number of rows of the weather that were added.
func (r *Receipt) weather() int64 { return r.Forecasts + r.Actuals + r.Observations + r.Normals }

// mayRelease reports whether the file may have the market of a waiting fill.
func (r *Receipt) mayRelease() bool {
	return !r.DryRun && r.TokensMapped+r.MarketsNew+r.MarketsChanged > 0
}

func (r *Receipt) json() (string, error) {
	b, err := json.Marshal(r)
	return string(b), err
}
