package ingest

import (
	"cmp"
	"encoding/json"
	"strings"

	"pmx/data"
)

// Receipt is what became of one file. Every row read is counted once among the
// inserted, already there, identical, superseded, waiting, passed and rejected, and the rows of
// payouts in a file of fills. The place of the
// inserted is taken by the forecasts, actuals, observations and normals for rows of the
// weather, by the new and changed markets for rows of markets and payouts, by the tokens
// mapped for mappings, and by the blocks for times of blocks.
type Receipt struct {
	File string `json:"file"`
	Feed string `json:"feed"`
	Rule string `json:"rule,omitempty"` // how repeats are distinguished from fills

	Read         int64            `json:"read"`          // fills, markets, payouts and mappings that the file gives
	Inserted     int64            `json:"inserted"`      // fills added, those that replace others included
	Replaced     int64            `json:"replaced"`      // fills of these that take the place of one known less well, or of one that contradicts them
	AlreadyThere int64            `json:"already_there"` // rows known before
	Identical    int64            `json:"identical"`     // rows that repeat another of this file, and further rows on the same market, token or block
	Superseded   int64            `json:"superseded"`    // rows of the weather of whose thing and time a later word is known, and fills that give way to another of the same log
	Waiting      int64            `json:"waiting"`       // fills kept until their market is known
	Released     int64            `json:"released"`      // waiting fills that this file's markets let in
	Rejected     map[string]int64 `json:"rejected"`      // by reason
	// Passed counts rows that give nothing though nothing is wrong with them, by reason.
	Passed       map[data.Passed]int64 `json:"passed,omitempty"`
	Lines        Lines                 `json:"lines"`
	RejectedFile string                `json:"rejected_file,omitempty"`
	Unmapped     int64                 `json:"unmapped"` // inserted fills whose token has no market yet

	// Notes counts what is odd about rows that are kept all the same, by reason.
	Notes      map[string]int64 `json:"notes,omitempty"`
	PayoutRows int64            `json:"payout_rows,omitempty"` // rows of payouts in a file of fills

	MarketsNew     int64 `json:"markets_new"`
	MarketsChanged int64 `json:"markets_changed"`
	Resolutions    int64 `json:"resolutions"` // payouts set or corrected
	// Conflicts counts markets of whose payouts, or time of resolution, the file says
	// something else than is known from equal source and version or by a correction, and
	// logs, tokens and blocks of which it, or it and what is known, says different things.
	Conflicts       int64    `json:"conflicts"`
	ConflictMarkets []string `json:"conflict_markets,omitempty"` // the first of them
	ConflictFills   []string `json:"conflict_fills,omitempty"`   // the first of them, as transaction:log index
	ConflictTokens  []string `json:"conflict_tokens,omitempty"`  // the first of those that several markets claim
	ConflictBlocks  []int64  `json:"conflict_blocks,omitempty"`  // the first of those that have several times
	// Overruled counts payouts other than those that stand, which are of a better
	// source or of a later version.
	Overruled    int64 `json:"overruled"`
	Correct      bool  `json:"correct,omitempty"` // the payouts were made the newest of their source
	TokensMapped int64 `json:"tokens_mapped"`
	// FinalPricesNotTaken counts markets whose prices look like payouts and are none,
	// by reason.
	FinalPricesNotTaken map[data.Untaken]int64 `json:"final_prices_not_taken,omitempty"`

	Blocks int64 `json:"blocks"` // blocks added
	// Merged counts known fills that are gone: they are one with what lost its log, or, since
	// their block has an earlier time, with another fill.
	Merged int64 `json:"merged,omitempty"`

	Forecasts    int64 `json:"forecasts"`    // values of the weather added, corrected ones included
	Actuals      int64 `json:"actuals"`      // extremes of past days added
	Observations int64 `json:"observations"` // temperatures of stations added
	Normals      int64 `json:"normals"`      // usual values added
	Withdrawn    int64 `json:"withdrawn"`    // of all these, such as say that the source has no good value
	Corrected    int64 `json:"corrected"`    // of all these, such as take the place of another value of the same thing and time

	From    string     `json:"from,omitempty"` // first and last inserted fill, RFC 3339
	To      string     `json:"to,omitempty"`
	BuyUSD  data.Micro `json:"buy_usd"`
	SellUSD data.Micro `json:"sell_usd"`

	Seconds       float64 `json:"seconds"`
	DryRun        bool    `json:"dry_run,omitempty"`
	RebuildNeeded bool    `json:"rebuild_needed,omitempty"`
	// Warning is what went wrong after the file was in: nothing of it is lost.
	Warning string `json:"warning,omitempty"`

	minTS, maxTS int64
	named        int64 // tokens that are called something else now
	late         bool  // a block has several times: known fills may have one that does not stand
}

// Lines is what the lines of a file of text are. Of JSON and Parquet only the records
// are counted.
type Lines struct {
	Total     int64 `json:"total"`     // as the line ends of the file are counted; all others add up to it
	Records   int64 `json:"records"`   // of each, at least one row is read
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

// PassedRows is how many rows were passed over, whatever the reason.
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

// RejectedRows is how many rows were rejected, whatever the reason.
func (r *Receipt) RejectedRows() int64 {
	n := int64(0)
	for _, c := range r.Rejected {
		n += c
	}
	return n
}

// untaken counts a market whose final prices were not taken.
func (r *Receipt) untaken(m *data.Market) {
	if m.Resolution != nil || m.Untaken == "" {
		return
	}
	if r.FinalPricesNotTaken == nil {
		r.FinalPricesNotTaken = map[data.Untaken]int64{}
	}
	r.FinalPricesNotTaken[m.Untaken]++
}

// warn notes an error that came too late to refuse the file.
func (r *Receipt) warn(err error) {
	if err != nil {
		r.Warning = strings.TrimPrefix(r.Warning+"; "+err.Error(), "; ")
	}
}

// after takes in what the release of waiting fills came to.
func (r *Receipt) after(w Receipt, err error) {
	r.Released, r.RebuildNeeded = w.Inserted, r.RebuildNeeded || w.RebuildNeeded
	r.Merged += w.Merged
	r.Conflicts += w.Conflicts
	r.ConflictFills = append(r.ConflictFills, w.ConflictFills[:min(len(w.ConflictFills), namedConflicts-len(r.ConflictFills))]...)
	r.RejectedFile = cmp.Or(r.RejectedFile, w.RejectedFile)
	r.late = r.late || w.late
	r.warn(err)
}

// afterMove takes in what became of fills that had a time of their block which does not
// stand.
func (r *Receipt) afterMove(w Receipt, err error) {
	r.Merged += w.Merged
	r.RebuildNeeded = r.RebuildNeeded || w.RebuildNeeded
	r.warn(err)
}

func (r *Receipt) nothingNew() bool {
	return r.Inserted == 0 && r.MarketsNew == 0 && r.MarketsChanged == 0 && r.Resolutions == 0 && r.TokensMapped == 0 && r.Blocks == 0 &&
		r.weather() == 0 && r.named == 0
}

// weather is how many rows of the weather were added.
func (r *Receipt) weather() int64 { return r.Forecasts + r.Actuals + r.Observations + r.Normals }

// mayRelease reports whether the file may have brought the market that a waiting fill names.
func (r *Receipt) mayRelease() bool {
	return !r.DryRun && r.TokensMapped+r.MarketsNew+r.MarketsChanged > 0
}

func (r *Receipt) json() (string, error) {
	b, err := json.Marshal(r)
	return string(b), err
}
