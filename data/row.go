package data

import (
	"crypto/sha256"
	"math/big"
	"slices"
	"time"
)

// Side is the wallet's own side of a fill.
type Side int8

// The two sides. A fill of unknown side is refused.
const (
	Buy  Side = 0
	Sell Side = 1
)

// Role says which party of a match the wallet was.
type Role int8

// The roles. A match has any number of maker fills and one taker fill.
const (
	RoleUnknown Role = 0
	Maker       Role = 1
	Taker       Role = 2
)

// NoIndex marks an absent log index or outcome index.
const NoIndex = -1

// Fill is one wallet's own side of a match, as every feed of trades delivers it.
type Fill struct {
	Tx       Hash  // zero where the feed has none
	LogIndex int32 // NoIndex where the feed has none
	TS       int64 // unix µs, UTC; 0: the time of Block
	Block    int64 // 0 where the feed has none
	Wallet   Address
	Role     Role
	TokenID  string // uint256 in decimal without leading zeros
	Side     Side
	Shares   Micro // tokens, gross of fee
	USD      Micro // dollars, gross of fee
	// Fee is in tokens on a buy and in dollars on a sell, or as returned by DollarFee (fee.go); 0:
	// none, or not known.
	Fee Micro
	// Condition and Outcome map the token if the feed itself knows them; otherwise the zero Hash
	// and NoIndex.
	Condition Hash
	Outcome   int
	Name      string // the wallet's user name, "" where unknown
}

// Market is one condition of the venue: a question with two or more outcomes.
// Empty strings, nil slices, nil pointers and zero times mean "this feed does
// not say" and never overwrite what is known.
type Market struct {
	Condition          Hash
	GammaID            string
	QuestionID         string
	Question           string
	Slug               string
	Description        string
	ResolutionSource   string
	GroupItemTitle     string
	GroupItemThreshold string
	Icon               string
	EventID            string // Gamma's decimal event id
	EventSlug          string
	EventTitle         string
	SeriesSlug         string
	NegRisk            *bool
	NegRiskMarketID    string
	Category           string     // one of the fixed table; "" unknown
	CategorySource     string     // "tag", "field", "slug": what the category came from
	Tags               []string   // slugs
	Outcomes           []string   // labels in payout order
	TokenIDs           []string   // in payout order
	Mapped             []TokenRef // tokens of this market that are not in TokenIDs at the place of their outcome
	Prices             []Micro    // last outcome prices in payout order
	BestBid, BestAsk   *Micro     // of the first outcome
	LastPrice          *Micro
	Active, Closed     *bool
	AcceptingOrders    *bool
	Liquidity          *Micro
	ReportedVolume     *Micro // what the feed claims, never mixed with sums of fills
	CreatedAt          time.Time
	StartAt            time.Time
	EndAt              time.Time
	ClosedAt           time.Time
	GameStartAt        time.Time
	UpdatedAt          time.Time // version: a market with an older one never overwrites a newer
	// Lacks are the fields of the quote that records of this page never have, so that their absence
	// says nothing.
	Lacks QuoteFields
	// Unquoted is the newest version of a record that lacked any of them, if that is known
	// independently of the record.
	Unquoted time.Time
	// FieldVersions are versions of fields other than UpdatedAt; exported markets have them.
	FieldVersions []FieldVersion
	// Versions is set by the import from these; feeds leave it empty.
	Versions []int64
	// Stub marks data about a market from a row of a trade: it only fills gaps.
	Stub       bool
	Resolution *Resolution
	// Untaken says why final prices in the record were not taken as a Resolution; "" if they were,
	// or if there are none. It is for receipts and not stored.
	Untaken Untaken
}

// QuoteFields are groups of fields of a market's quote, one bit each.
type QuoteFields uint8

// The groups of fields that have a version each.
const (
	QuoteBidAsk    QuoteFields = 1 << iota // best bid and best ask
	QuoteLast                              // the last price
	QuoteLiquidity                         // the liquidity
)

// FieldVersion is the version of one field of a market, by the name of its column.
type FieldVersion struct {
	Name    string
	Version int64 // as returned by Market.Version
}

// The versions of values without one, in the order of their rank.
const (
	Unsaid   int64 = -2 // no record has the value
	InATrade int64 = -1 // only a row of a trade has it
	Undated  int64 = 0  // its record has no version
)

// Version is the version of the record's values: UpdatedAt in unix µs, Undated, or InATrade.
func (m *Market) Version() int64 {
	switch {
	case m.Stub:
		return InATrade
	case m.UpdatedAt.IsZero():
		return Undated
	}
	return m.UpdatedAt.UnixMicro()
}

// Untaken is a reason why final prices were not taken for payouts.
type Untaken string

// Reasons why final prices are not taken. Explain returns the sentence.
const (
	UntakenOpen      Untaken = "said_open"       // the record itself says that the market is not closed
	UntakenNoClosing Untaken = "no_closing"      // the record does not say that the market is closed
	UntakenOracle    Untaken = "oracle_not_done" // proposed or disputed
	UntakenUndecided Untaken = "undecided"       // the prices of a closed market do not name one winner
	UntakenWinner    Untaken = "winner_differs"  // prices and winner contradict each other
	UntakenNoWinner  Untaken = "no_winner"       // no outcome of a closed market is marked as the winner
	UntakenWinners   Untaken = "more_winners"    // more than one outcome is marked as the winner
	UntakenMisfit    Untaken = "misfit"          // the prices are not one from 0 to 1 for each outcome
	UntakenNoPayouts Untaken = "no_payouts"      // files of this feed carry no payouts
)

// Explain says what the reason means.
func (u Untaken) Explain() string {
	switch u {
	case UntakenOpen:
		return "the record says that the market is not closed"
	case UntakenNoClosing:
		return "nothing in the record says that the market is closed"
	case UntakenOracle:
		return "the oracle's answer is proposed or disputed"
	case UntakenUndecided:
		return "the prices do not name one winner"
	case UntakenWinner:
		return "the prices name another winner than the record"
	case UntakenNoWinner:
		return "no outcome is marked as the winner"
	case UntakenWinners:
		return "more than one outcome is marked as the winner"
	case UntakenMisfit:
		return "the prices are not one from 0 to 1 for each outcome"
	case UntakenNoPayouts:
		return "payouts come in files of resolutions"
	}
	return string(u)
}

// ResolutionSource says where a payout was read; the larger one wins.
type ResolutionSource int8

// Sources of a resolution, weakest first (on-chain payouts are the truth; the
// rest are readings of it).
const (
	ResolvedByMap    ResolutionSource = 1 // a third party's list of winners
	ResolvedByPrices ResolutionSource = 2 // Gamma outcome prices of a resolved market
	ResolvedByWinner ResolutionSource = 3 // CLOB winner flags and is_50_50_outcome
	ResolvedByAPI    ResolutionSource = 4 // data-api v2 resolution object
	ResolvedDerived  ResolutionSource = 5 // derived from what the contract has for other conditions
	ResolvedOnChain  ResolutionSource = 6 // payout numerators and denominator
)

// resolutionSources are the names of the sources of payouts, in their order.
var resolutionSources = [...]string{"", "map", "prices", "winner", "api", "derived", "chain"}

// String is the source's name in files and responses, "" for an unknown one.
func (s ResolutionSource) String() string {
	if s < 0 || int(s) >= len(resolutionSources) {
		return ""
	}
	return resolutionSources[s]
}

// TimeSource says where the time of a resolution comes from; the larger one wins. A time from any
// other source, such as that of the last trade, is not a time of resolution.
type TimeSource int8

// Sources of the time of a resolution, weakest first.
const (
	TimeUnknown  TimeSource = 0
	TimeOfEnd    TimeSource = 1 // the market's end date
	TimeOfClose  TimeSource = 2 // when trading was closed
	TimeOfOracle TimeSource = 3 // when the oracle settled
	TimeOnChain  TimeSource = 4 // the block in which the payouts were reported
)

// timeSources are the names of the sources of a time, in their order.
var timeSources = [...]string{"", "end_date", "closed_time", "oracle", "chain"}

// String is the source's name in files and responses, "" for an unknown one.
func (s TimeSource) String() string {
	if s < 0 || int(s) >= len(timeSources) {
		return ""
	}
	return timeSources[s]
}

// ParseTimeSource returns the source with a name; false if there is none.
func ParseTimeSource(name string) (TimeSource, bool) {
	i := slices.Index(timeSources[:], name)
	return TimeSource(max(i, 0)), i > 0
}

// Resolution is the payout of every outcome of a market, in outcome order.
// Payouts are millionths of a dollar per token and add up to One.
type Resolution struct {
	Condition  Hash
	Payouts    []Micro
	ResolvedAt time.Time // zero where the feed does not say
	// AtSource is where ResolvedAt comes from; TimeUnknown: the usual source for this kind of
	// payouts, see TimeBy.
	AtSource TimeSource
	Source   ResolutionSource
	Version  time.Time // the feed's own update time, zero where unknown
	// CorrectedAt is when an operator declared these payouts to be the right ones among those of
	// their source and version; zero: never.
	CorrectedAt time.Time
	// AtVersion is the version of the record that ResolvedAt is from, if records were merged; zero:
	// Version.
	AtVersion time.Time
}

// TimeBy is where the time of the resolution comes from, TimeUnknown if it has none.
func (r *Resolution) TimeBy() TimeSource {
	switch {
	case r.ResolvedAt.IsZero():
		return TimeUnknown
	case r.AtSource != TimeUnknown:
		return r.AtSource
	case r.Source == ResolvedOnChain:
		return TimeOnChain
	case r.Source == ResolvedByAPI, r.Source == ResolvedDerived:
		return TimeOfOracle
	}
	return TimeOfClose
}

// TokenRef maps a token to the outcome of a market it pays for.
type TokenRef struct {
	TokenID   string
	Condition Hash
	Outcome   int    // NoIndex: not known
	Label     string // what the outcome is called; "" where not known
	Stub      bool   // from a row of a trade: it only fills gaps
}

// Block has the time of a chain block, for feeds that have only block numbers.
type Block struct {
	Number int64
	TS     int64 // unix µs, UTC
}

// SyntheticCondition is the id of a market in a feed that has no condition ids: the SHA-256 of the
// feed's name and its own market key, so that the same market of the same feed always gets the same
// id.
func SyntheticCondition(feed, key string) Hash {
	return sha256.Sum256([]byte("pmx\x00" + feed + "\x00" + key))
}

// SyntheticToken is the id of the token of an outcome of such a market, a decimal uint256.
func SyntheticToken(condition Hash, label string) string {
	h := sha256.Sum256(append(condition[:], label...))
	return new(big.Int).SetBytes(h[:]).String()
}

// SyntheticAddress stands for an account that a feed names without an address, so that its fills
// are not lost; the name is kept with the fill.
func SyntheticAddress(feed, account string) Address {
	h := sha256.Sum256([]byte("pmx-account\x00" + feed + "\x00" + account))
	return Address(h[:20])
}
