package wire

import (
	"time"

	"pmx/data"
)

// PnLMethod names the definition behind every real_pnl.
const PnLMethod = "cash_basis_v3"

// TraderStats is the lifetime summary of one wallet. Money is in US dollars.
type TraderStats struct {
	Address         string      `json:"address"`
	Username        *string     `json:"username"`
	Trades          int64       `json:"trades"` // own fills
	Volume          data.Micro  `json:"volume"` // buys plus sells
	BuyVolumeUSD    data.Micro  `json:"buy_volume_usd"`
	SellVolumeUSD   data.Micro  `json:"sell_volume_usd"`
	MakerTrades     int64       `json:"maker_trades"`
	TakerTrades     int64       `json:"taker_trades"`
	ActiveDays      int64       `json:"active_days"` // distinct UTC days with a fill
	UniqueMarkets   int64       `json:"unique_markets"`
	FirstTradeAt    *time.Time  `json:"first_trade_at"`
	LastTradeAt     *time.Time  `json:"last_trade_at"`
	FeesUSD         data.Micro  `json:"fees_usd"`
	RealizedPnL     data.Micro  `json:"realized_pnl"` // always equals real_pnl
	RealPnL         data.Micro  `json:"real_pnl"`     // net_cash + redemption_value
	ROI             *data.Micro `json:"roi"`          // null when nothing was bought
	WinRate         *data.Micro `json:"win_rate"`     // null without resolved markets
	ResolvedMarkets int64       `json:"resolved_markets"`
	WinningMarkets  int64       `json:"winning_markets"`
	NetCash         data.Micro  `json:"net_cash"`
	RedemptionValue data.Micro  `json:"redemption_value"`
	UnresolvedCash  data.Micro  `json:"unresolved_cash"` // the part of net_cash in markets that are not resolved
	NegativeLegs    int64       `json:"negative_legs"`   // outcomes of resolved markets held short
	UnmappedFills   int64       `json:"unmapped_fills"`  // fills whose market is not known yet
	PnLMethod       string      `json:"pnl_method"`
	UnrealizedPnL   *data.Micro `json:"unrealized_pnl"` // reserved, always null
}

// TraderRow is one row of GET /leaderboard/traders.
type TraderRow struct {
	Rank                   int         `json:"rank"` // competition rank on real_pnl: 1, 1, 3
	Address                string      `json:"address"`
	Username               *string     `json:"username"`
	RealPnL                data.Micro  `json:"real_pnl"`          // net_cash + redemption_value of the period: the ranking basis
	RealPnLAllTime         data.Micro  `json:"real_pnl_all_time"` // the same over the whole lifetime
	NetCash                data.Micro  `json:"net_cash"`
	RedemptionValue        data.Micro  `json:"redemption_value"`   // of markets resolved in the period
	UndatedRedemption      data.Micro  `json:"undated_redemption"` // what the wallet's tokens pay in markets that it traded in the period and that were resolved at an unknown time; in no real_pnl of a period
	UndatedMarkets         int64       `json:"undated_markets"`    // how many such markets there are: 0 where real_pnl lacks nothing
	Volume                 data.Micro  `json:"volume"`
	BuyVolumeUSD           data.Micro  `json:"buy_volume_usd"`
	SellVolumeUSD          data.Micro  `json:"sell_volume_usd"`
	Trades                 int64       `json:"trades"`
	ROI                    *data.Micro `json:"roi"`                       // real_pnl over buy_volume_usd, both of the period: what was bought before it and pays in it makes it large; null when nothing was bought
	WinRateAllTime         *data.Micro `json:"win_rate_all_time"`         // share of all resolved markets the wallet ever traded that closed in profit; null without resolved markets
	ResolvedMarketsAllTime int64       `json:"resolved_markets_all_time"` // resolved markets the wallet ever traded
	WinningMarketsAllTime  int64       `json:"winning_markets_all_time"`  // of those, the ones with a profit
	LastTradeAt            *time.Time  `json:"last_trade_at"`
}

// MarketRow is one row of GET /leaderboard/markets.
type MarketRow struct {
	Rank          int        `json:"rank"` // competition rank on volume
	ConditionID   string     `json:"condition_id"`
	Question      *string    `json:"question"`
	Slug          *string    `json:"slug"`
	EventID       *string    `json:"event_id"`
	EventSlug     *string    `json:"event_slug"`
	Category      *string    `json:"category"`
	Volume        data.Micro `json:"volume"`                                  // USD traded in the period
	VolumeShares  data.Micro `json:"volume_shares"`                           // outcome tokens traded in the period
	VolumeBasis   *string    `json:"volume_basis" enum:"taker_usd,maker_usd"` // whose fills volume adds up; null without fills
	VolumeAllTime data.Micro `json:"volume_all_time"`
	Trades        int64      `json:"trades"`                             // fills behind volume: one per match
	Traders       int64      `json:"traders"`                            // distinct wallets, lifetime
	Outcomes      []string   `json:"outcomes" null:"true"`               // names in the order of the payouts; null where unknown
	Status        string     `json:"status" enum:"open,closed,resolved"` // state of the market
	EndDate       *time.Time `json:"end_date"`
	LastTradeAt   *time.Time `json:"last_trade_at"`
}

// Health is the payload of GET /health and its alias GET /status.
type Health struct {
	Status        string    `json:"status" enum:"ok,starting,degraded"` // starting: nothing to serve yet; degraded: the last cycle failed
	Database      string    `json:"database" enum:"ok"`                 // an unreachable database answers 503
	Version       string    `json:"version"`                            // of the program
	Epoch         *uint64   `json:"epoch"`                              // number of the snapshot that is served; null while starting
	UptimeSeconds int64     `json:"uptime_seconds"`
	LastCycle     LastCycle `json:"last_cycle"` // how the latest refresh went
}

// LastCycle tells how the latest refresh went.
type LastCycle struct {
	OK         *bool      `json:"ok"`          // null before the first cycle
	FinishedAt *time.Time `json:"finished_at"` // last success; null: none yet
	FailedAt   *time.Time `json:"failed_at"`   // last failure, also when a later cycle succeeded; null: none
}

// PublicStatus is the payload of GET /status/public.
type PublicStatus struct {
	Grade         string    `json:"grade" enum:"A,B,C,D,F"` // the worst of the subsystems'
	Detail        *string   `json:"detail"`                 // what is behind the grade and what to do, as the first subsystem of it says; null at grade A
	CheckedAt     time.Time `json:"checked_at"`             // when the grades were computed
	Historical    bool      `json:"historical"`             // the venue is historical on purpose: trades and markets are graded against its own as_of
	ServingTables Subsystem `json:"serving_tables"`         // what requests are answered from
	Trades        Subsystem `json:"trades"`                 // fills
	Markets       Subsystem `json:"markets"`                // markets and their resolutions
}

// Subsystem is the freshness of one part of the service.
type Subsystem struct {
	Grade      string     `json:"grade" enum:"A,B,C,D,F"` // by rule
	LagSeconds *int64     `json:"lag_seconds"`            // checked_at − as_of, of a historical venue's trades and markets the venue's as_of − as_of; null where as_of is
	AsOf       *time.Time `json:"as_of"`                  // null: never
	UpdatedAt  *time.Time `json:"updated_at"`             // wall clock of the last change
	Pending    bool       `json:"pending"`                // imported data waits for the next cycle
	Failed     bool       `json:"failed"`                 // the last cycle failed, other work in the background did, or the disk is full
	Detail     *string    `json:"detail"`                 // what is behind the grade and what to do, in plain words; null at grade A
	Rule       string     `json:"rule"`                   // how grade follows from the fields above
}
