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
	Trades          int64       `json:"trades"` // number of the wallet's own fills
	Volume          data.Micro  `json:"volume"` // USD traded: buys plus sells
	BuyVolumeUSD    data.Micro  `json:"buy_volume_usd"`
	SellVolumeUSD   data.Micro  `json:"sell_volume_usd"`
	MakerTrades     int64       `json:"maker_trades"`
	TakerTrades     int64       `json:"taker_trades"`
	ActiveDays      int64       `json:"active_days"` // distinct UTC days with a fill
	UniqueMarkets   int64       `json:"unique_markets"`
	FirstTradeAt    *time.Time  `json:"first_trade_at"`
	LastTradeAt     *time.Time  `json:"last_trade_at"`
	FeesUSD         data.Micro  `json:"fees_usd"`
	RealizedPnL     data.Micro  `json:"realized_pnl"` // always equals `real_pnl`
	RealPnL         data.Micro  `json:"real_pnl"`     // `net_cash` + `redemption_value`; open positions are left out
	ROI             *data.Micro `json:"roi"`          // null if nothing was bought
	WinRate         *data.Micro `json:"win_rate"`     // null without resolved markets
	ResolvedMarkets int64       `json:"resolved_markets"`
	WinningMarkets  int64       `json:"winning_markets"`
	NetCash         data.Micro  `json:"net_cash"`
	RedemptionValue data.Micro  `json:"redemption_value"`
	UnresolvedCash  data.Micro  `json:"unresolved_cash"` // the part of `net_cash` in markets that are not resolved
	NegativeLegs    int64       `json:"negative_legs"`   // outcomes of resolved markets in which the balance is negative
	UnmappedFills   int64       `json:"unmapped_fills"`  // fills whose market is not yet known
	PnLMethod       string      `json:"pnl_method"`
	UnrealizedPnL   *data.Micro `json:"unrealized_pnl"` // reserved, always null
}

// TraderRow is a row of GET /leaderboard/traders.
type TraderRow struct {
	Rank                   int          `json:"rank"` // competition rank by the figure that the rows are sorted by (1, 1, 3)
	Address                string       `json:"address"`
	Username               *string      `json:"username"`
	RealPnL                data.Micro   `json:"real_pnl"`          // `net_cash` + `redemption_value` of the period; wallets are ranked by this unless `sort` says otherwise
	RealPnLAllTime         data.Micro   `json:"real_pnl_all_time"` // lifetime `real_pnl`
	NetCash                data.Micro   `json:"net_cash"`
	RedemptionValue        data.Micro   `json:"redemption_value"`   // USD value at resolution of the tokens held, over markets resolved in the period
	UndatedRedemption      data.Micro   `json:"undated_redemption"` // USD that the wallet's tokens pay in markets that it traded in the period and that were resolved at an unknown time; not part of the `real_pnl` of any period
	UndatedMarkets         int64        `json:"undated_markets"`    // number of such markets; 0 if nothing is missing from `real_pnl`
	Volume                 data.Micro   `json:"volume"`
	BuyVolumeUSD           data.Micro   `json:"buy_volume_usd"`
	SellVolumeUSD          data.Micro   `json:"sell_volume_usd"`
	Trades                 int64        `json:"trades"`
	ROI                    *data.Micro  `json:"roi"`                       // `real_pnl` ÷ `buy_volume_usd`, both of the period; it is large if tokens bought before the period pay in it; null if nothing was bought
	WinRateAllTime         *data.Micro  `json:"win_rate_all_time"`         // share of all resolved markets that the wallet ever traded that ended in profit; null if there are no resolved markets
	ResolvedMarketsAllTime int64        `json:"resolved_markets_all_time"` // number of resolved markets that the wallet ever traded
	WinningMarketsAllTime  int64        `json:"winning_markets_all_time"`  // number of those markets that ended in profit
	LastTradeAt            *time.Time   `json:"last_trade_at"`
	ResolvedPnL            *data.Micro  `json:"resolved_pnl"`      // the part of the period's `real_pnl` in markets that are resolved by now: `real_pnl` − `unresolved_cash`; null unless `include` has split
	UnresolvedCash         *data.Micro  `json:"unresolved_cash"`   // the part of the period's `net_cash` in markets that are not resolved yet, whose tokens are not valued; null unless `include` has split
	PreviousRank           *int         `json:"previous_rank"`     // rank in the preceding window of the same length; null if the wallet is not in it, if `include` does not have previous_rank, and for a period of 30 days if the server has too little memory for the 30 days before
	Spark                  []data.Micro `json:"spark" null:"true"` // cumulative profit of the wallet at the end of each of the last 30 UTC days, counted from the start of the first; the last day is that of as_of; null unless `include` has spark
}

// MarketRow is a row of GET /leaderboard/markets.
type MarketRow struct {
	Rank          int        `json:"rank"` // competition rank by volume (1, 1, 3)
	ConditionID   string     `json:"condition_id"`
	Question      *string    `json:"question"`
	Slug          *string    `json:"slug"`
	EventID       *string    `json:"event_id"`
	EventSlug     *string    `json:"event_slug"`
	Category      *string    `json:"category"`
	Volume        data.Micro `json:"volume"`                                  // USD traded in the period
	VolumeShares  data.Micro `json:"volume_shares"`                           // outcome tokens traded in the period
	VolumeBasis   *string    `json:"volume_basis" enum:"taker_usd,maker_usd"` // whose fills are counted in volume and trades; null if there are no fills
	VolumeAllTime data.Micro `json:"volume_all_time"`
	Trades        int64      `json:"trades"`                             // number of fills counted in volume: one per match
	Traders       int64      `json:"traders"`                            // number of distinct wallets, lifetime
	Outcomes      []string   `json:"outcomes" null:"true"`               // names of the outcomes in the order of the payouts; null if unknown
	Status        string     `json:"status" enum:"open,closed,resolved"` // open, closed (trading has ended) or resolved (payouts are known); open if no source says that trading has ended
	EndDate       *time.Time `json:"end_date"`
	LastTradeAt   *time.Time `json:"last_trade_at"`
}

// Health is the payload of GET /health and its alias GET /status.
type Health struct {
	Status        string    `json:"status" enum:"ok,starting,degraded"` // starting: there is no data to serve yet; degraded: the last refresh failed
	Database      string    `json:"database" enum:"ok"`                 // always ok; if the database cannot be reached, the response is 503
	Version       string    `json:"version"`                            // version of the program
	Epoch         *uint64   `json:"epoch"`                              // number of the snapshot that is being served; null while starting
	UptimeSeconds int64     `json:"uptime_seconds"`
	LastCycle     LastCycle `json:"last_cycle"` // result of the latest refresh
}

// LastCycle is the result of the latest refresh.
type LastCycle struct {
	OK         *bool      `json:"ok"`          // whether the latest refresh succeeded; null before the first one
	FinishedAt *time.Time `json:"finished_at"` // time of the last successful refresh; null if there was none yet
	FailedAt   *time.Time `json:"failed_at"`   // time of the last failed refresh, even if a later one succeeded; null if none failed
}

// PublicStatus is the payload of GET /status/public.
type PublicStatus struct {
	Grade         string           `json:"grade" enum:"A,B,C,D,F"` // the worst grade of the subsystems
	Detail        *string          `json:"detail"`                 // why the grade is not A and what to do about it, taken from the first subsystem with this grade; null if the grade is A
	CheckedAt     time.Time        `json:"checked_at"`             // when the grades were computed
	Historical    bool             `json:"historical"`             // whether the venue is historical on purpose; trades and markets are then graded relative to its own as_of
	ServingTables Subsystem        `json:"serving_tables"`         // the data that requests are answered from
	Trades        Subsystem        `json:"trades"`                 // the fills
	Markets       Subsystem        `json:"markets"`                // the markets and their resolutions
	Sources       []FollowedSource `json:"sources"`                // the sources that are followed; empty if data comes from imports only
}

// FollowedSource is the freshness of one source that is followed.
type FollowedSource struct {
	Name             string             `json:"name"`                                                         // the source: chain, trades, markets, quotes, audits, weather or a part of it
	Grade            string             `json:"grade" enum:"A,B,C,D,F"`                                       // grade, according to rule
	State            string             `json:"state" enum:"idle,fetching,waiting,quarantine,stalled,paused"` // what the source is doing. waiting: it pauses after a failure; quarantine: data is held back because responses disagree
	LagSeconds       *int64             `json:"lag_seconds"`                                                  // checked_at − as_of; null if as_of is null
	AsOf             *time.Time         `json:"as_of"`                                                        // time up to which everything the source gives is stored, without a gap; null if there is nothing yet
	UpdatedAt        *time.Time         `json:"updated_at"`                                                   // wall-clock time of the last change; null if there was none
	Quiet            bool               `json:"quiet"`                                                        // whether less data arrives than a fifth of the usual amount for this hour
	CatchingUp       bool               `json:"catching_up"`                                                  // whether history is still being fetched
	Progress         *float64           `json:"progress"`                                                     // share of the history fetched so far, 0 to 1; null unless catching_up
	RemainingSeconds *int64             `json:"remaining_seconds"`                                            // estimate of how long catching up still takes; null if unknown
	Missing          int64              `json:"missing"`                                                      // blocks of a chain that are known to be final and are not stored yet; while state is waiting or stalled there may be more, because the newest final block may be unknown. 0 for other sources
	Rows             int64              `json:"rows"`                                                         // new rows since the server started
	Requests         int64              `json:"requests"`                                                     // requests since the server started
	Retries          int64              `json:"retries"`                                                      // requests that were repeated since the server started
	ThrottledSeconds float64            `json:"throttled_seconds"`                                            // time spent waiting because the source limited the rate of requests, since the server started
	Unknown          int64              `json:"unknown"`                                                      // events, JSON members and statuses that were not recognised, since the server started
	Hosts            []SourceHost       `json:"hosts"`                                                        // the hosts that serve the source; empty if it has none
	Differences      []SourceDifference `json:"differences"`                                                  // current differences from the venue's own counts, for the source audits; empty for other sources
	Incomplete       bool               `json:"incomplete"`                                                   // whether the source is incomplete by its nature; detail says what is missing
	Detail           *string            `json:"detail"`                                                       // what is wrong and what to do about it; null if the grade is A
	Rule             string             `json:"rule"`                                                         // how grade is computed from the fields above
}

// SourceDifference is the current result of one comparison of the data with the venue's own counts.
type SourceDifference struct {
	Audit string `json:"audit" enum:"blocks,resolutions,tokens,trades,volume"` // what is compared. blocks: the newest block; resolutions: markets that the chain has resolved and the venue reports as open; tokens: tokens of no known market; trades: transactions; volume: traded volume of markets
	Count int64  `json:"count"`                                                // number of blocks, markets, tokens, transactions or markets, in the order above, that differ; 0 if none differ
}

// SourceHost is the state of one host that serves a source.
type SourceHost struct {
	Name       string     `json:"name"`                                                 // name of the host in the log and in metrics, such as rpc 1; not its address
	State      string     `json:"state" enum:"unasked,answers,fails,throttled,blocked"` // result of the last request. throttled: the host limits the rate and said when to retry; blocked: something in front of the host refuses this server's requests
	AnsweredAt *time.Time `json:"answered_at"`                                          // time of its last response; null if there was none
	Requests   int64      `json:"requests"`                                             // requests to it since the server started
}

// Subsystem is the freshness of one part of the service.
type Subsystem struct {
	Grade      string     `json:"grade" enum:"A,B,C,D,F"` // grade, according to rule
	LagSeconds *int64     `json:"lag_seconds"`            // checked_at − as_of; for trades and markets of a historical venue, the venue's as_of − as_of; null if as_of is null
	AsOf       *time.Time `json:"as_of"`                  // time up to which this part of the data is complete; null if it never was
	UpdatedAt  *time.Time `json:"updated_at"`             // wall-clock time of the last change; null if there was none
	Pending    bool       `json:"pending"`                // whether imported data is waiting for the next refresh
	Failed     bool       `json:"failed"`                 // whether the last refresh or other background work failed, or the disk is full
	Detail     *string    `json:"detail"`                 // why the grade is not A and what to do about it; null if the grade is A
	Rule       string     `json:"rule"`                   // how grade is computed from the fields above
}
