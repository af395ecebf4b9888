package wire

import (
	"time"

	"pmx/data"
)

// Page is one page of a scan by cursor.
type Page[T any] struct {
	Envelope
	AsOf       *time.Time `json:"as_of"`       // null if the database is empty
	NextCursor *string    `json:"next_cursor"` // null on the last page
	Data       []T        `json:"data"`
}

// Series is a list by time.
type Series[T any] struct {
	Envelope
	AsOf *time.Time `json:"as_of"` // null if the database is empty
	Data []T        `json:"data"`
}

// Trade is one fill of a wallet: a row of GET /trader/{address}/trades.
type Trade struct {
	TS              time.Time   `json:"ts"`
	TransactionHash *string     `json:"transaction_hash"`
	LogIndex        *int32      `json:"log_index"`
	Ordinal         int16       `json:"ordinal"`      // number that distinguishes otherwise equal fills, counted from 1; always 1 for fills with a log_index
	ConditionID     *string     `json:"condition_id"` // condition id of the market, `0x` and 64 hexadecimal digits in lower case; null if the token's market is unknown
	Question        *string     `json:"question"`
	Slug            *string     `json:"slug"`
	EventID         *string     `json:"event_id"`
	EventSlug       *string     `json:"event_slug"`
	Outcome         *string     `json:"outcome"`
	OutcomeIndex    *int8       `json:"outcome_index"`
	TokenID         string      `json:"token_id"`                // id of the outcome token, a uint256 in decimal
	Side            string      `json:"side" enum:"BUY,SELL"`    // the wallet's side: BUY or SELL
	Role            *string     `json:"role" enum:"maker,taker"` // the wallet's role: maker or taker; null if the source does not say
	Price           *data.Micro `json:"price"`                   // `usd` ÷ `shares`; null if `shares` is 0
	Shares          data.Micro  `json:"shares"`                  // outcome tokens, before the fee
	USD             data.Micro  `json:"usd"`                     // USD, before the fee
	Fee             data.Micro  `json:"fee"`
	FeeAsset        string      `json:"fee_asset" enum:"shares,usd"` // unit of the fee. For a sell, usd; for a buy, shares, or usd in addition to the price
	Resolved        *bool       `json:"resolved"`                    // whether the market is resolved; null if the market is unknown
	Payout          *data.Micro `json:"payout"`                      // payout of this outcome in USD per token; null until resolved
}

// WalletPosition is a wallet's position in one outcome.
type WalletPosition struct {
	Outcome       *string     `json:"outcome"`
	OutcomeIndex  int8        `json:"outcome_index"`
	TokenID       string      `json:"token_id"`
	Trades        int64       `json:"trades"`
	BuyShares     data.Micro  `json:"buy_shares"`
	SellShares    data.Micro  `json:"sell_shares"`
	FeeShares     data.Micro  `json:"fee_shares"` // outcome tokens paid as fees on buys
	NetShares     data.Micro  `json:"net_shares"` // buy_shares − sell_shares − fee_shares; it may be negative
	BuyVolumeUSD  data.Micro  `json:"buy_volume_usd"`
	SellVolumeUSD data.Micro  `json:"sell_volume_usd"`
	AvgBuyPrice   *data.Micro `json:"avg_buy_price"`  // average USD per token bought; null if nothing was bought
	AvgSellPrice  *data.Micro `json:"avg_sell_price"` // average USD per token sold; null if nothing was sold
	Payout        *data.Micro `json:"payout"`         // payout in USD per token; null until resolved
}

// WalletMarket is a wallet's lifetime figures in one market: a row of GET /trader/{address}/markets.
type WalletMarket struct {
	ConditionID      *string          `json:"condition_id"` // condition id of the market, `0x` and 64 hexadecimal digits in lower case; null for the row of all fills whose market is unknown
	Question         *string          `json:"question"`
	Slug             *string          `json:"slug"`
	EventID          *string          `json:"event_id"`
	EventSlug        *string          `json:"event_slug"`
	Category         *string          `json:"category"`
	Status           string           `json:"status" enum:"open,closed,resolved"` // open, closed (trading has ended) or resolved (payouts are known); open if no source says that trading has ended
	ResolvedAt       *time.Time       `json:"resolved_at"`
	ResolvedAtSource *string          `json:"resolved_at_source" enum:"end_date,closed_time,oracle,chain"`
	Trades           int64            `json:"trades"`
	Volume           data.Micro       `json:"volume"`
	BuyVolumeUSD     data.Micro       `json:"buy_volume_usd"`
	SellVolumeUSD    data.Micro       `json:"sell_volume_usd"`
	FeesUSD          data.Micro       `json:"fees_usd"`
	NetCash          data.Micro       `json:"net_cash"`
	RedemptionValue  data.Micro       `json:"redemption_value"`
	RealPnL          data.Micro       `json:"real_pnl"`
	ROI              *data.Micro      `json:"roi"`           // `real_pnl` ÷ `buy_volume_usd`; null if nothing was bought
	NegativeLegs     int64            `json:"negative_legs"` // outcomes of resolved markets in which the balance is negative
	FirstTradeAt     time.Time        `json:"first_trade_at"`
	LastTradeAt      time.Time        `json:"last_trade_at"`
	Positions        []WalletPosition `json:"positions" null:"true"` // positions by outcome; null if the market is unknown, and with positions=false
}

// WalletTotals are the sums over all markets of a wallet that match the filters. Without a filter, each equals the figure of the same name in TraderStats.
type WalletTotals struct {
	UniqueMarkets   int64      `json:"unique_markets"`
	ResolvedMarkets int64      `json:"resolved_markets"`
	WinningMarkets  int64      `json:"winning_markets"`
	Trades          int64      `json:"trades"`
	Volume          data.Micro `json:"volume"`
	BuyVolumeUSD    data.Micro `json:"buy_volume_usd"`
	SellVolumeUSD   data.Micro `json:"sell_volume_usd"`
	FeesUSD         data.Micro `json:"fees_usd"`
	NetCash         data.Micro `json:"net_cash"`
	RedemptionValue data.Micro `json:"redemption_value"`
	RealPnL         data.Micro `json:"real_pnl"`
	UnresolvedCash  data.Micro `json:"unresolved_cash"`
	NegativeLegs    int64      `json:"negative_legs"` // outcomes of resolved markets in which the balance is negative
	UnmappedFills   int64      `json:"unmapped_fills"`
}

// WalletMarkets is the response of GET /trader/{address}/markets.
type WalletMarkets struct {
	Envelope
	AsOf       *time.Time     `json:"as_of"`
	NextCursor *string        `json:"next_cursor"` // null on the last page
	Total      int            `json:"total"`       // number of rows that match the filters, including those not shown
	Totals     WalletTotals   `json:"totals"`      // sums over all rows that match the filters, including those not shown
	Data       []WalletMarket `json:"data"`
}

// WalletCategory is a wallet's lifetime figures in the markets of one category: a row of GET /trader/{address}/categories.
type WalletCategory struct {
	Category        *string     `json:"category"` // null for markets without a category and fills whose market is unknown
	Trades          int64       `json:"trades"`
	Volume          data.Micro  `json:"volume"`
	BuyVolumeUSD    data.Micro  `json:"buy_volume_usd"`
	SellVolumeUSD   data.Micro  `json:"sell_volume_usd"`
	FeesUSD         data.Micro  `json:"fees_usd"`
	UniqueMarkets   int64       `json:"unique_markets"`
	ResolvedMarkets int64       `json:"resolved_markets"`
	WinningMarkets  int64       `json:"winning_markets"`
	WinRate         *data.Micro `json:"win_rate"`
	NetCash         data.Micro  `json:"net_cash"`
	RedemptionValue data.Micro  `json:"redemption_value"`
	RealPnL         data.Micro  `json:"real_pnl"`
	ROI             *data.Micro `json:"roi"`
	UnresolvedCash  data.Micro  `json:"unresolved_cash"`
	NegativeLegs    int64       `json:"negative_legs"` // outcomes of resolved markets in which the balance is negative
	UnmappedFills   int64       `json:"unmapped_fills"`
	LastTradeAt     *time.Time  `json:"last_trade_at"`
}

// WalletDay is one UTC day of a wallet: a row of GET /trader/{address}/activity/daily.
type WalletDay struct {
	Date              string     `json:"date" format:"date"`
	IsPartial         bool       `json:"is_partial"` // whether the day is still in progress: it contains as_of
	Trades            int64      `json:"trades"`     // number of the wallet's own fills; 0 if the only event of the day is the resolution of a market
	Volume            data.Micro `json:"volume"`
	BuyVolumeUSD      data.Micro `json:"buy_volume_usd"`
	SellVolumeUSD     data.Micro `json:"sell_volume_usd"`
	FeesUSD           data.Micro `json:"fees_usd"`
	NetCash           data.Micro `json:"net_cash"`
	RedemptionValue   data.Micro `json:"redemption_value"`   // USD value at resolution of the tokens held, over markets resolved on the day
	UndatedRedemption data.Micro `json:"undated_redemption"` // USD that the wallet's tokens pay in markets that were resolved at an unknown time and that the wallet last traded on the day; not part of the `real_pnl` of any day
	UndatedMarkets    int64      `json:"undated_markets"`    // number of such markets
	RealPnL           data.Micro `json:"real_pnl"`           // `net_cash` + `redemption_value` of the day
	CumulativePnL     data.Micro `json:"cumulative_pnl"`     // sum of `real_pnl` over all days up to and including this one
}

// ProfitDay is a wallet's profit on one day, as in GET /trader/{address}/activity/daily.
type ProfitDay struct {
	Date          string     `json:"date" format:"date"`
	IsPartial     bool       `json:"is_partial"`     // whether the day is still in progress: it contains as_of
	RealPnL       data.Micro `json:"real_pnl"`       // `net_cash` + `redemption_value` of the day
	CumulativePnL data.Micro `json:"cumulative_pnl"` // sum of `real_pnl` over all days of the wallet up to and including this one
}

// TraderComparison is the TraderStats of one wallet in GET /trader/compare. If found is false, everything except
// address, found and pnl_method is null.
type TraderComparison struct {
	Address         string      `json:"address"`
	Found           bool        `json:"found"`
	Days            []ProfitDay `json:"days" null:"true"` // profit by day, oldest first; null unless `series` is daily
	Username        *string     `json:"username"`
	Trades          *int64      `json:"trades"`
	Volume          *data.Micro `json:"volume"`
	BuyVolumeUSD    *data.Micro `json:"buy_volume_usd"`
	SellVolumeUSD   *data.Micro `json:"sell_volume_usd"`
	MakerTrades     *int64      `json:"maker_trades"`
	TakerTrades     *int64      `json:"taker_trades"`
	ActiveDays      *int64      `json:"active_days"`
	UniqueMarkets   *int64      `json:"unique_markets"`
	FirstTradeAt    *time.Time  `json:"first_trade_at"`
	LastTradeAt     *time.Time  `json:"last_trade_at"`
	FeesUSD         *data.Micro `json:"fees_usd"`
	RealizedPnL     *data.Micro `json:"realized_pnl"`
	RealPnL         *data.Micro `json:"real_pnl"`
	ROI             *data.Micro `json:"roi"`
	WinRate         *data.Micro `json:"win_rate"`
	ResolvedMarkets *int64      `json:"resolved_markets"`
	WinningMarkets  *int64      `json:"winning_markets"`
	NetCash         *data.Micro `json:"net_cash"`
	RedemptionValue *data.Micro `json:"redemption_value"`
	UnresolvedCash  *data.Micro `json:"unresolved_cash"`
	NegativeLegs    *int64      `json:"negative_legs"` // outcomes of resolved markets in which the balance is negative
	UnmappedFills   *int64      `json:"unmapped_fills"`
	PnLMethod       string      `json:"pnl_method"`
	UnrealizedPnL   *data.Micro `json:"unrealized_pnl"` // reserved, always null
}
