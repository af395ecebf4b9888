package wire

import (
	"time"

	"pmx/data"
)

// StatsOverview is the payload of GET /stats. volume_basis says whose fills volume counts. Numbers of
// traders exclude the venue's own wallets.
type StatsOverview struct {
	VolumeBasis      string      `json:"volume_basis" enum:"taker_usd,maker_usd"` // whose fills are counted in volume: those of takers, or those of makers if no taker's fill is known
	Volume           data.Micro  `json:"volume"`                                  // USD traded since the first fill
	Volume24h        data.Micro  `json:"volume_24h"`                              // USD traded in the last 24 hours up to `as_of`
	Volume7d         data.Micro  `json:"volume_7d"`                               // USD traded in the last 168 hours up to `as_of`
	Volume30d        data.Micro  `json:"volume_30d"`                              // USD traded in the last 720 hours up to `as_of`
	VolumeShares     data.Micro  `json:"volume_shares"`                           // outcome tokens traded since the first fill
	Trades           int64       `json:"trades"`                                  // number of fills counted in volume: one per match
	Trades24h        int64       `json:"trades_24h"`                              // fills counted in volume_24h
	Trades7d         int64       `json:"trades_7d"`                               // fills counted in volume_7d
	Trades30d        int64       `json:"trades_30d"`                              // fills counted in volume_30d
	Traders          int64       `json:"traders"`                                 // distinct wallets with a fill
	ActiveTraders24h int64       `json:"active_traders_24h"`                      // distinct wallets with a fill in the last 24 hours
	ActiveTraders7d  int64       `json:"active_traders_7d"`                       // distinct wallets with a fill in the last 7 days
	ActiveTraders30d int64       `json:"active_traders_30d"`                      // distinct wallets with a fill in the last 30 days
	Markets          int64       `json:"markets"`                                 // number of markets that any imported file describes or names
	ActiveMarkets    int64       `json:"active_markets"`                          // markets traded in the last 24 hours
	ActiveMarkets7d  int64       `json:"active_markets_7d"`                       // markets traded in the last 7 days
	ActiveMarkets30d int64       `json:"active_markets_30d"`                      // markets traded in the last 30 days
	OpenMarkets      int64       `json:"open_markets"`                            // unresolved markets for which no source says that trading has ended
	ClosedMarkets    int64       `json:"closed_markets"`                          // unresolved markets in which trading has ended
	ResolvedMarkets  int64       `json:"resolved_markets"`                        // markets whose payouts are known
	Events           int64       `json:"events"`                                  // number of events that the markets belong to
	FirstTradeAt     *time.Time  `json:"first_trade_at"`                          // null if the database is empty
	LastTradeAt      *time.Time  `json:"last_trade_at"`
	Reconciliation   VenueCounts `json:"reconciliation"` // sums over all wallets, to check the other figures against
}

// VenueCounts are sums over all wallets, including the venue's own. Use them to check an overview against the data.
type VenueCounts struct {
	Fills           int64      `json:"fills"`              // fills of every role
	TakerFills      int64      `json:"taker_fills"`        // fills whose wallet is known to be the taker
	MakerFills      int64      `json:"maker_fills"`        // fills whose wallet is known to be a maker
	UnknownRole     int64      `json:"unknown_role_fills"` // fills whose source does not give the role
	Wallets         int64      `json:"wallets"`            // wallets with a known fill, including the venue's own
	Tokens          int64      `json:"tokens"`             // tokens with a known fill, one per outcome
	UnmappedFills   int64      `json:"unmapped_fills"`     // fills of tokens whose market is not yet known
	UnmappedTokens  int64      `json:"unmapped_tokens"`    // tokens whose market is not yet known
	BuyVolumeUSD    data.Micro `json:"buy_volume_usd"`
	SellVolumeUSD   data.Micro `json:"sell_volume_usd"`
	FeesUSD         data.Micro `json:"fees_usd"`
	NetCash         data.Micro `json:"net_cash"`
	RedemptionValue data.Micro `json:"redemption_value"`
	RealPnL         data.Micro `json:"real_pnl"` // `net_cash` + `redemption_value`; open positions are left out
	UnresolvedCash  data.Micro `json:"unresolved_cash"`
	NegativeLegs    int64      `json:"negative_legs"` // outcomes of resolved markets in which the balance is negative
}

// StatsSeries is a list of buckets, oldest first.
type StatsSeries[T any] struct {
	Envelope
	AsOf        *time.Time `json:"as_of"`                                   // null if the database is empty
	VolumeBasis string     `json:"volume_basis" enum:"taker_usd,maker_usd"` // whose fills are counted in volume: those of takers, or those of makers if no taker's fill is known
	Data        []T        `json:"data"`
}

// StatsHour is one UTC hour of GET /stats/hourly.
type StatsHour struct {
	Hour          time.Time  `json:"hour"` // start of the hour, UTC
	Volume        data.Micro `json:"volume"`
	VolumeShares  data.Micro `json:"volume_shares"`
	Trades        int64      `json:"trades"`
	ActiveWallets int64      `json:"active_wallets"` // distinct wallets with a fill
	IsPartial     bool       `json:"is_partial"`     // whether the bucket is still in progress: it contains as_of
}

// StatsDay is one UTC day of GET /stats/daily.
type StatsDay struct {
	Date          string     `json:"date" format:"date"`
	Volume        data.Micro `json:"volume"`
	VolumeShares  data.Micro `json:"volume_shares"`
	Trades        int64      `json:"trades"`
	ActiveWallets int64      `json:"active_wallets"` // distinct wallets with a fill
	NewWallets    int64      `json:"new_wallets"`    // wallets whose first fill is on the day
	NewMarkets    int64      `json:"new_markets"`    // known markets whose first fill is on the day
	ActiveMarkets int64      `json:"active_markets"` // distinct known markets with a fill
	IsPartial     bool       `json:"is_partial"`     // whether the bucket is still in progress: it contains as_of
}

// StatsGrowth is the payload of GET /stats/growth.
type StatsGrowth struct {
	VolumeBasis    string         `json:"volume_basis" enum:"taker_usd,maker_usd"` // whose fills are counted in volume: those of takers, or those of makers if no taker's fill is known
	WeekOverWeek   StatsRolling   `json:"week_over_week"`                          // the last 168 hours compared with the 168 hours before
	MonthOverMonth StatsRolling   `json:"month_over_month"`                        // the last 720 hours compared with the 720 hours before
	Average7d      StatsAverage   `json:"average_7d"`                              // daily means of the last seven finished days
	ActiveWallets  StatsActive    `json:"active_wallets"`                          // active wallets in rolling windows
	OpenMarkets    StatsOpen      `json:"open_markets"`                            // markets that were open, by their recorded times
	Days           []GrowthDay    `json:"days"`                                    // at most 90 UTC days, oldest first; empty with days=false
	Weeks          []GrowthBucket `json:"weeks"`                                   // at most 53 ISO weeks, oldest first
	Months         []GrowthBucket `json:"months"`                                  // at most 36 calendar months, oldest first
}

// StatsOpen counts the markets that were open at as_of and a week before: listed by then, and neither closed nor resolved yet.
type StatsOpen struct {
	Count      int64       `json:"count"`       // markets open at as_of
	WeekBefore int64       `json:"week_before"` // markets open 168 hours before as_of
	ChangePct  *data.Micro `json:"change_pct"`  // change from week_before to count, in percent; null if week_before is 0
	Unknown    int64       `json:"unknown"`     // markets in neither count, because no source says when they were listed or, if they have ended, when
}

// StatsRolling is a comparison of a rolling window with the window of equal length before it.
type StatsRolling struct {
	WindowStart         *time.Time  `json:"window_start"` // start of the window, exclusive; null if the database is empty
	WindowEnd           *time.Time  `json:"window_end"`   // end of the window, inclusive; equals as_of
	Volume              data.Micro  `json:"volume"`
	VolumePrevious      data.Micro  `json:"volume_previous"`   // volume in the previous window
	VolumeChangePct     *data.Micro `json:"volume_change_pct"` // change of volume from the previous window, in percent; null if that had no volume
	Trades              int64       `json:"trades"`
	TradesPrevious      int64       `json:"trades_previous"`        // trades in the previous window
	TradesChangePct     *data.Micro `json:"trades_change_pct"`      // change of trades from the previous window, in percent; null if that had no trades
	NewWallets          int64       `json:"new_wallets"`            // wallets whose first fill ever is in the window
	NewWalletsPrevious  int64       `json:"new_wallets_previous"`   // new wallets in the previous window
	NewWalletsChangePct *data.Micro `json:"new_wallets_change_pct"` // change of new wallets from the previous window, in percent; null if that had none
}

// StatsAverage is the daily mean of the last seven finished days. All members are null if there are fewer.
type StatsAverage struct {
	FirstDate     *string     `json:"first_date" format:"date"` // first of the seven days
	LastDate      *string     `json:"last_date" format:"date"`  // last of the seven days
	Volume        *data.Micro `json:"volume"`
	Trades        *data.Micro `json:"trades"`
	ActiveWallets *data.Micro `json:"active_wallets"` // mean number of distinct wallets per day
	NewWallets    *data.Micro `json:"new_wallets"`    // mean number of new wallets per day
}

// StatsActive counts distinct wallets with a fill in the last 24, 168 and 720
// hours.
type StatsActive struct {
	Last24h    int64       `json:"last_24h"`   // distinct wallets with a fill in the last 24 hours
	Last7d     int64       `json:"last_7d"`    // distinct wallets with a fill in the last 7 days
	Last30d    int64       `json:"last_30d"`   // distinct wallets with a fill in the last 30 days
	Stickiness *data.Micro `json:"stickiness"` // last_24h ÷ last_30d; null if last_30d is 0
}

// GrowthDay is one UTC day of GET /stats/growth. The means are over the day and the six days before it; they are null
// for an unfinished day and if there are not six days before it.
type GrowthDay struct {
	Date                   string      `json:"date" format:"date"`
	Volume                 data.Micro  `json:"volume"`
	VolumeAverage7d        *data.Micro `json:"volume_average_7d"` // mean over the day and the six days before it
	Trades                 int64       `json:"trades"`
	TradesAverage7d        *data.Micro `json:"trades_average_7d"`         // mean over the day and the six days before it
	ActiveWallets          int64       `json:"active_wallets"`            // distinct wallets with a fill
	ActiveWalletsAverage7d *data.Micro `json:"active_wallets_average_7d"` // mean over the day and the six days before it
	NewWallets             int64       `json:"new_wallets"`               // wallets whose first fill is on the day
	NewMarkets             int64       `json:"new_markets"`               // known markets whose first fill is on the day
	IsPartial              bool        `json:"is_partial"`
}

// GrowthBucket is one ISO week (Monday to Sunday) or calendar month. Changes are from the previous bucket; they are
// null for an unfinished bucket, for the very first one, and if the previous bucket has no value.
type GrowthBucket struct {
	Bucket                 string      `json:"bucket"`                   // ISO week or month, such as 2026-W11 or 2026-03
	FirstDate              string      `json:"first_date" format:"date"` // first day of the bucket
	LastDate               string      `json:"last_date" format:"date"`  // last day of the bucket
	Volume                 data.Micro  `json:"volume"`
	VolumeChangePct        *data.Micro `json:"volume_change_pct"` // change from the previous bucket, in percent
	Trades                 int64       `json:"trades"`
	TradesChangePct        *data.Micro `json:"trades_change_pct"`         // change from the previous bucket, in percent
	ActiveWallets          int64       `json:"active_wallets"`            // distinct wallets with a fill in the bucket
	ActiveWalletsChangePct *data.Micro `json:"active_wallets_change_pct"` // change from the previous bucket, in percent
	NewWallets             int64       `json:"new_wallets"`               // wallets whose first fill is in the bucket
	NewWalletsChangePct    *data.Micro `json:"new_wallets_change_pct"`    // change from the previous bucket, in percent
	NewMarkets             int64       `json:"new_markets"`               // known markets whose first fill is in the bucket
	IsPartial              bool        `json:"is_partial"`
}
