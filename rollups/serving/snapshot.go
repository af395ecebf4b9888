// Package serving holds the immutable in-memory picture of the rollups from which the hot endpoints
// are served. A Snapshot is built by one goroutine, published once and never changed afterwards, so
// readers need no lock.
package serving

import (
	"time"

	"pmx/data"
)

// Totals are one wallet's lifetime figures. Money is in millionths of a dollar.
type Totals struct {
	Fills, MakerFills, TakerFills int64
	UnmappedFills                 int64 // fills of tokens whose market is not known yet
	Markets                       int64 // distinct mapped markets traded
	ActiveDays                    int64 // distinct UTC days with a fill
	ResolvedMarkets               int64 // traded markets that are resolved
	WinningMarkets                int64 // of these, the ones with market real_pnl > 0
	NegativeLegs                  int64 // outcomes of resolved markets held short at resolution
	FirstTS, LastTS               int64 // unix µs of the first and last fill
	BuyUSD, SellUSD               data.Micro
	FeeUSD                        data.Micro // fees taken in dollars
	NetCash                       data.Micro // Σ sells − Σ buys, after dollar fees
	Redemption                    data.Micro // Σ net tokens × payout over resolved markets
	UnresolvedCash                data.Micro // the part of NetCash in markets not resolved
}

// RealPnL is cash_basis_v3: net cash of all fills plus redemption value.
func (t *Totals) RealPnL() data.Micro { return t.NetCash + t.Redemption }

// Volume is the sum of the wallet's own fills in dollars.
func (t *Totals) Volume() data.Micro { return t.BuyUSD + t.SellUSD }

// Trader is one wallet as the snapshot knows it.
type Trader struct {
	ID     data.WalletID
	Wallet data.Address
	Name   string // "" if unknown
	Totals *Totals
}

// Period is a rolling window that ends at a snapshot's AsOf.
type Period int

// The windows of the leaderboards: the last 24, 168 and 720 hours.
const (
	Day Period = iota
	Week
	Month
	Periods // how many there are
)

// Length is how far the window reaches back from AsOf: (AsOf − Length, AsOf].
func (p Period) Length() time.Duration {
	return [Periods]time.Duration{24 * time.Hour, 7 * 24 * time.Hour, 30 * 24 * time.Hour}[p]
}

// String is the wire name: 1d, 7d, 30d.
func (p Period) String() string { return [Periods]string{"1d", "7d", "30d"}[p] }

// TraderRow is one row of a trader leaderboard. Rank is competition rank on
// real_pnl (1, 1, 3); rows are ordered by real_pnl, volume, then address.
type TraderRow struct {
	Rank            int
	Wallet          data.Address
	Name            string
	RealPnL         data.Micro // of the period: net cash + redemption of markets resolved in it
	NetCash         data.Micro
	Redemption      data.Micro
	Undated         data.Micro // redemption in markets traded in the period and resolved at an unknown time
	UndatedMarkets  int64
	BuyUSD, SellUSD data.Micro
	Fills           int64
	RealPnLAllTime  data.Micro
	VolumeAllTime   data.Micro
	ResolvedMarkets int64 // lifetime
	WinningMarkets  int64 // lifetime
	FirstTS, LastTS int64 // lifetime, unix µs
}

// Volume is the sum of the row's own fills in the period.
func (r *TraderRow) Volume() data.Micro { return r.BuyUSD + r.SellUSD }

// VolumeBasis says which legs a market's volume sums.
type VolumeBasis string

// Volume bases: taker fills count each match once; a market that only ever had
// maker fills uses those.
const (
	TakerUSD VolumeBasis = "taker_usd"
	MakerUSD VolumeBasis = "maker_usd"
)

// MarketRow is one row of a market leaderboard: ranked by the period's volume,
// ties by lifetime volume, then condition id.
type MarketRow struct {
	Rank          int
	Condition     data.Hash
	Question      string
	Slug          string
	EventID       string
	EventSlug     string
	Category      string
	Outcomes      []string
	VolumeUSD     data.Micro // of the period
	VolumeShares  data.Micro // of the period
	Trades        int64      // fills behind VolumeUSD in the period
	Basis         VolumeBasis
	VolumeAllTime data.Micro
	Traders       int64 // distinct wallets, lifetime
	Resolved      bool
	Closed        *bool // nil: unknown
	EndTS         int64 // unix µs, 0 unknown
	LastTS        int64 // last fill, unix µs
}

// Counts are a snapshot's figures of the whole venue.
type Counts struct {
	Fills, Wallets, Markets, ResolvedMarkets, Events, Tokens int64
	OpenMarkets, ClosedMarkets                               int64 // of the unresolved ones
	UnmappedFills, UnmappedTokens                            int64
	Basis                                                    VolumeBasis // of the whole venue: TakerUSD if any taker's fill is known
	Trades                                                   int64       // fills behind VolumeUSD
	VolumeUSD, VolumeShares                                  data.Micro
}

// Freshness is what the status grades are computed from. Zero times: never.
type Freshness struct {
	LastCycle   time.Time     `json:"last_cycle"` // wall clock of the last finished refresh cycle
	LastFailure time.Time     `json:"last_failure"`
	FailureText string        `json:"failure_text"` // "" once a later cycle succeeded
	LastFills   time.Time     `json:"last_fills"`   // wall clock of the last import that added fills
	LastMarkets time.Time     `json:"last_markets"` // wall clock of the last import that added or changed markets
	NextCycle   time.Time     `json:"next_cycle"`   // when the scheduler will next refresh
	Period      time.Duration `json:"period"`       // from one refresh to the next
	LogLost     bool          `json:"log_lost"`     // a damaged log was found, and its copy is still there
	DiskFull    bool          `json:"disk_full"`    // nothing new is stored until there is room
	Stale       bool          `json:"stale"`        // there are facts that the rollups do not hold yet
	// The last whole-database verification; zero: none ran yet.
	LastVerified  time.Time    `json:"last_verified"`
	VerifyFailure string       `json:"verify_failure"`   // what it refuted, "" if everything held
	Scheduled     BackupStatus `json:"scheduled_backup"` // by the schedule of the server
	Asked         BackupStatus `json:"asked_backup"`     // by pmx backup
	Published     BackupStatus `json:"published"`        // for replicas
	BackupDue     time.Time    `json:"backup_due"`       // when the next scheduled backup after the last one is due; zero: there is no schedule
}

// BackupStatus says how backups ended.
type BackupStatus struct {
	Made    time.Time `json:"made"`    // the last one; zero: none is known
	Failed  time.Time `json:"failed"`  // when one last failed since the start
	Failing bool      `json:"failing"` // the last one failed
	Problem string    `json:"problem"` // why it failed; "" if it did not
	Bytes   int64     `json:"bytes"`   // bytes that the last one since the start wrote
	Seconds float64   `json:"seconds"` // duration of that one; 0: none was made since the start
}

// Snapshot is one epoch of everything that the hot endpoints are served from.
type Snapshot struct {
	Epoch        uint64
	Lineage      uint64    // snapshots of the same lineage have the same ids of wallets
	Batch        int64     // the last import in it; −1: none
	AsOf         time.Time // newest ingested fill; zero on an empty database
	Counts       Counts
	Traders      [Periods][]TraderRow // the first LeaderboardSize rows
	Markets      [Periods][]MarketRow
	Catalog      *Catalog
	Screener     *Screener
	Venue        []data.WalletID // ids of the venue's own wallets, ascending
	Stats        *Stats
	Index        *Index
	Oracle       *Oracle
	Whales       *Whales
	Desk         *Desk
	DeskTraders  *DeskTraders
	wallets      *Wallets
	walletsLen   int
	walletBlocks []*walletBlock
}

// LeaderboardSize is how many rows of each leaderboard a snapshot keeps.
const LeaderboardSize = 1000
