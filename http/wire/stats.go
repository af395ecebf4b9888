package wire

import (
	"time"

	"pmx/data"
)

// StatsOverview is the payload of GET /stats. Volume is in the basis that
// volume_basis names; traders leave the venue's own wallets out.
type StatsOverview struct {
	VolumeBasis      string      `json:"volume_basis" enum:"taker_usd,maker_usd"` // whose fills volume adds up: the takers', or the makers' where no taker's is known
	Volume           data.Micro  `json:"volume"`                                  // dollars, lifetime
	Volume24h        data.Micro  `json:"volume_24h"`                              // dollars, of the last 24 hours
	Volume7d         data.Micro  `json:"volume_7d"`                               // dollars, of the last 7 days
	Volume30d        data.Micro  `json:"volume_30d"`                              // dollars, of the last 30 days
	VolumeShares     data.Micro  `json:"volume_shares"`                           // tokens, lifetime
	Trades           int64       `json:"trades"`                                  // fills behind volume: one per match
	Trades24h        int64       `json:"trades_24h"`                              // of the last 24 hours
	Trades7d         int64       `json:"trades_7d"`                               // of the last 7 days
	Trades30d        int64       `json:"trades_30d"`                              // of the last 30 days
	Traders          int64       `json:"traders"`                                 // distinct wallets with a fill
	ActiveTraders24h int64       `json:"active_traders_24h"`                      // distinct wallets with a fill in the last 24 hours
	ActiveTraders7d  int64       `json:"active_traders_7d"`                       // distinct wallets with a fill in the last 7 days
	ActiveTraders30d int64       `json:"active_traders_30d"`                      // distinct wallets with a fill in the last 30 days
	Markets          int64       `json:"markets"`                                 // described or named by any file
	ActiveMarkets    int64       `json:"active_markets"`                          // traded in the last 24 hours
	ActiveMarkets7d  int64       `json:"active_markets_7d"`                       // traded in the last 7 days
	ActiveMarkets30d int64       `json:"active_markets_30d"`                      // traded in the last 30 days
	OpenMarkets      int64       `json:"open_markets"`                            // not resolved, and no source said that trading ended
	ClosedMarkets    int64       `json:"closed_markets"`                          // trading ended, not resolved
	ResolvedMarkets  int64       `json:"resolved_markets"`                        // whose payouts are known
	Events           int64       `json:"events"`                                  // that markets belong to
	FirstTradeAt     *time.Time  `json:"first_trade_at"`                          // null on an empty database
	LastTradeAt      *time.Time  `json:"last_trade_at"`
	Reconciliation   VenueCounts `json:"reconciliation"` // sums over all wallets, to check the figures above by
}

// VenueCounts are sums over all wallets, the venue's own too, by which an
// overview can be checked against the data.
type VenueCounts struct {
	Fills           int64      `json:"fills"`              // rows of every role
	TakerFills      int64      `json:"taker_fills"`        // of known takers
	MakerFills      int64      `json:"maker_fills"`        // of known makers
	UnknownRole     int64      `json:"unknown_role_fills"` // whose source does not tell the role
	Wallets         int64      `json:"wallets"`            // ever seen, the venue's own too
	Tokens          int64      `json:"tokens"`             // ever seen, one per outcome
	UnmappedFills   int64      `json:"unmapped_fills"`     // of tokens whose market is not known yet
	UnmappedTokens  int64      `json:"unmapped_tokens"`    // whose market is not known yet
	BuyVolumeUSD    data.Micro `json:"buy_volume_usd"`
	SellVolumeUSD   data.Micro `json:"sell_volume_usd"`
	FeesUSD         data.Micro `json:"fees_usd"`
	NetCash         data.Micro `json:"net_cash"`
	RedemptionValue data.Micro `json:"redemption_value"`
	RealPnL         data.Micro `json:"real_pnl"` // net_cash + redemption_value
	UnresolvedCash  data.Micro `json:"unresolved_cash"`
	NegativeLegs    int64      `json:"negative_legs"` // outcomes of resolved markets held short
}

// StatsSeries is a list of buckets, oldest first.
type StatsSeries[T any] struct {
	Envelope
	AsOf        *time.Time `json:"as_of"`                                   // null on an empty database
	VolumeBasis string     `json:"volume_basis" enum:"taker_usd,maker_usd"` // whose fills volume adds up: the takers', or the makers' where no taker's is known
	Data        []T        `json:"data"`
}

// StatsHour is one UTC hour of GET /stats/hourly.
type StatsHour struct {
	Hour          time.Time  `json:"hour"` // when it begins
	Volume        data.Micro `json:"volume"`
	VolumeShares  data.Micro `json:"volume_shares"`
	Trades        int64      `json:"trades"`
	ActiveWallets int64      `json:"active_wallets"` // distinct wallets with a fill
	IsPartial     bool       `json:"is_partial"`     // as_of lies in it
}

// StatsDay is one UTC day of GET /stats/daily.
type StatsDay struct {
	Date          string     `json:"date" format:"date"`
	Volume        data.Micro `json:"volume"`
	VolumeShares  data.Micro `json:"volume_shares"`
	Trades        int64      `json:"trades"`
	ActiveWallets int64      `json:"active_wallets"` // distinct wallets with a fill
	NewWallets    int64      `json:"new_wallets"`    // whose first fill it holds
	NewMarkets    int64      `json:"new_markets"`    // whose first fill it holds
	ActiveMarkets int64      `json:"active_markets"` // distinct known markets with a fill
	IsPartial     bool       `json:"is_partial"`     // as_of lies in it
}

// StatsGrowth is the payload of GET /stats/growth.
type StatsGrowth struct {
	VolumeBasis    string         `json:"volume_basis" enum:"taker_usd,maker_usd"` // whose fills volume adds up: the takers', or the makers' where no taker's is known
	WeekOverWeek   StatsRolling   `json:"week_over_week"`                          // the last 168 hours and the 168 before
	MonthOverMonth StatsRolling   `json:"month_over_month"`                        // the last 720 hours and the 720 before
	Average7d      StatsAverage   `json:"average_7d"`                              // daily means of the last seven finished days
	ActiveWallets  StatsActive    `json:"active_wallets"`                          // over rolling windows
	Days           []GrowthDay    `json:"days"`                                    // at most 90 UTC days, oldest first
	Weeks          []GrowthBucket `json:"weeks"`                                   // at most 53 ISO weeks, oldest first
	Months         []GrowthBucket `json:"months"`                                  // at most 36 calendar months, oldest first
}

// StatsRolling holds a rolling window against the one of equal length before it.
type StatsRolling struct {
	WindowStart         *time.Time  `json:"window_start"` // exclusive; null on an empty database
	WindowEnd           *time.Time  `json:"window_end"`   // inclusive; equals as_of
	Volume              data.Micro  `json:"volume"`
	VolumePrevious      data.Micro  `json:"volume_previous"`   // of the window before
	VolumeChangePct     *data.Micro `json:"volume_change_pct"` // null where the window before is empty
	Trades              int64       `json:"trades"`
	TradesPrevious      int64       `json:"trades_previous"`        // of the window before
	TradesChangePct     *data.Micro `json:"trades_change_pct"`      // null where the window before is empty
	NewWallets          int64       `json:"new_wallets"`            // whose first fill of all it holds
	NewWalletsPrevious  int64       `json:"new_wallets_previous"`   // of the window before
	NewWalletsChangePct *data.Micro `json:"new_wallets_change_pct"` // null where the window before has none
}

// StatsAverage is the daily mean of the last seven finished days; all null where
// there are fewer.
type StatsAverage struct {
	FirstDate     *string     `json:"first_date" format:"date"` // first of the seven days
	LastDate      *string     `json:"last_date" format:"date"`  // last of the seven days
	Volume        *data.Micro `json:"volume"`
	Trades        *data.Micro `json:"trades"`
	ActiveWallets *data.Micro `json:"active_wallets"` // mean of the distinct wallets of each day
	NewWallets    *data.Micro `json:"new_wallets"`    // wallets a day whose first fill it holds
}

// StatsActive counts distinct wallets with a fill in the last 24, 168 and 720
// hours.
type StatsActive struct {
	Last24h    int64       `json:"last_24h"`   // distinct wallets with a fill in the last 24 hours
	Last7d     int64       `json:"last_7d"`    // distinct wallets with a fill in the last 7 days
	Last30d    int64       `json:"last_30d"`   // distinct wallets with a fill in the last 30 days
	Stickiness *data.Micro `json:"stickiness"` // last_24h ÷ last_30d; null where that is 0
}

// GrowthDay is one UTC day of GET /stats/growth. The means are over the day and
// the six before it: null for an unfinished day and where six are not known.
type GrowthDay struct {
	Date                   string      `json:"date" format:"date"`
	Volume                 data.Micro  `json:"volume"`
	VolumeAverage7d        *data.Micro `json:"volume_average_7d"` // mean of the day and the six before it
	Trades                 int64       `json:"trades"`
	TradesAverage7d        *data.Micro `json:"trades_average_7d"`         // mean of the day and the six before it
	ActiveWallets          int64       `json:"active_wallets"`            // distinct wallets with a fill
	ActiveWalletsAverage7d *data.Micro `json:"active_wallets_average_7d"` // mean of the day and the six before it
	NewWallets             int64       `json:"new_wallets"`               // whose first fill it holds
	NewMarkets             int64       `json:"new_markets"`               // whose first fill it holds
	IsPartial              bool        `json:"is_partial"`
}

// GrowthBucket is one ISO week (Monday to Sunday) or calendar month. Changes are
// to the bucket before: null for an unfinished bucket, for the first of all, and
// where the bucket before has none.
type GrowthBucket struct {
	Bucket                 string      `json:"bucket"`                   // ISO week or month: 2026-W11, 2026-03
	FirstDate              string      `json:"first_date" format:"date"` // first day of the bucket
	LastDate               string      `json:"last_date" format:"date"`  // last day of the bucket
	Volume                 data.Micro  `json:"volume"`
	VolumeChangePct        *data.Micro `json:"volume_change_pct"` // to the bucket before
	Trades                 int64       `json:"trades"`
	TradesChangePct        *data.Micro `json:"trades_change_pct"`         // to the bucket before
	ActiveWallets          int64       `json:"active_wallets"`            // distinct in the bucket
	ActiveWalletsChangePct *data.Micro `json:"active_wallets_change_pct"` // to the bucket before
	NewWallets             int64       `json:"new_wallets"`               // whose first fill it holds
	NewWalletsChangePct    *data.Micro `json:"new_wallets_change_pct"`    // to the bucket before
	NewMarkets             int64       `json:"new_markets"`               // whose first fill it holds
	IsPartial              bool        `json:"is_partial"`
}
