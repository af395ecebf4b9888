package wire

import (
	"time"

	"pmx/data"
)

// Page is one page of a walk by cursor.
type Page[T any] struct {
	Envelope
	AsOf       *time.Time `json:"as_of"`       // null on an empty database
	NextCursor *string    `json:"next_cursor"` // null at the end
	Data       []T        `json:"data"`
}

// Series is a list by time.
type Series[T any] struct {
	Envelope
	AsOf *time.Time `json:"as_of"` // null on an empty database
	Data []T        `json:"data"`
}

// Trade is one fill of a wallet, a row of GET /trader/{address}/trades.
type Trade struct {
	TS              time.Time   `json:"ts"`
	TransactionHash *string     `json:"transaction_hash"`
	LogIndex        *int32      `json:"log_index"`
	Ordinal         int16       `json:"ordinal"`      // tells fills apart that equal each other in everything else; 1 where none does, and with a log_index
	ConditionID     *string     `json:"condition_id"` // null: the token's market is not known
	Question        *string     `json:"question"`
	Slug            *string     `json:"slug"`
	EventID         *string     `json:"event_id"`
	EventSlug       *string     `json:"event_slug"`
	Outcome         *string     `json:"outcome"`
	OutcomeIndex    *int8       `json:"outcome_index"`
	TokenID         string      `json:"token_id"`                // uint256 in decimal
	Side            string      `json:"side" enum:"BUY,SELL"`    // of the wallet
	Role            *string     `json:"role" enum:"maker,taker"` // of the wallet; null where the source does not say
	Price           *data.Micro `json:"price"`                   // usd ÷ shares; null for a fill of no shares
	Shares          data.Micro  `json:"shares"`                  // outcome tokens, gross of fee
	USD             data.Micro  `json:"usd"`                     // USD, gross of fee
	Fee             data.Micro  `json:"fee"`
	FeeAsset        string      `json:"fee_asset" enum:"shares,usd"` // what fee is counted in: shares on a buy, usd on a sell
	Resolved        *bool       `json:"resolved"`                    // whether the market is resolved; null where the market is not known
	Payout          *data.Micro `json:"payout"`                      // dollars per token of this outcome; null until resolved
}

// WalletPosition is a wallet's part in one outcome.
type WalletPosition struct {
	Outcome       *string     `json:"outcome"`
	OutcomeIndex  int8        `json:"outcome_index"`
	TokenID       string      `json:"token_id"`
	Trades        int64       `json:"trades"`
	BuyShares     data.Micro  `json:"buy_shares"`
	SellShares    data.Micro  `json:"sell_shares"`
	FeeShares     data.Micro  `json:"fee_shares"` // fees of buys
	NetShares     data.Micro  `json:"net_shares"` // bought − sold − fees, signed
	BuyVolumeUSD  data.Micro  `json:"buy_volume_usd"`
	SellVolumeUSD data.Micro  `json:"sell_volume_usd"`
	AvgBuyPrice   *data.Micro `json:"avg_buy_price"`  // USD a token bought; null when nothing was bought
	AvgSellPrice  *data.Micro `json:"avg_sell_price"` // USD a token sold; null when nothing was sold
	Payout        *data.Micro `json:"payout"`         // dollars per token; null until resolved
}

// WalletMarket is what a wallet did in one market, lifetime: a row of
// GET /trader/{address}/markets.
type WalletMarket struct {
	ConditionID      *string          `json:"condition_id"` // null: all fills whose market is not known, together
	Question         *string          `json:"question"`
	Slug             *string          `json:"slug"`
	EventID          *string          `json:"event_id"`
	EventSlug        *string          `json:"event_slug"`
	Category         *string          `json:"category"`
	Status           string           `json:"status" enum:"open,closed,resolved"` // state of the market
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
	ROI              *data.Micro      `json:"roi"`           // real_pnl / buy_volume_usd; null when nothing was bought
	NegativeLegs     int64            `json:"negative_legs"` // outcomes of resolved markets held short
	FirstTradeAt     time.Time        `json:"first_trade_at"`
	LastTradeAt      time.Time        `json:"last_trade_at"`
	Positions        []WalletPosition `json:"positions" null:"true"` // by outcome; null where the market is not known
}

// WalletTotals are the sums over all markets of a wallet; each equals the figure
// of that name in TraderStats.
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
	NegativeLegs    int64      `json:"negative_legs"` // outcomes of resolved markets held short
	UnmappedFills   int64      `json:"unmapped_fills"`
}

// WalletMarkets is the reply of GET /trader/{address}/markets.
type WalletMarkets struct {
	Envelope
	AsOf   *time.Time     `json:"as_of"`
	Total  int            `json:"total"`  // rows there are, beyond those shown too
	Totals WalletTotals   `json:"totals"` // over all of them
	Data   []WalletMarket `json:"data"`
}

// WalletDay is one UTC day of a wallet, a row of GET /trader/{address}/activity/daily.
type WalletDay struct {
	Date              string     `json:"date" format:"date"`
	IsPartial         bool       `json:"is_partial"` // the day of as_of
	Trades            int64      `json:"trades"`     // 0 where only a market was resolved
	Volume            data.Micro `json:"volume"`
	BuyVolumeUSD      data.Micro `json:"buy_volume_usd"`
	SellVolumeUSD     data.Micro `json:"sell_volume_usd"`
	FeesUSD           data.Micro `json:"fees_usd"`
	NetCash           data.Micro `json:"net_cash"`
	RedemptionValue   data.Micro `json:"redemption_value"`   // of markets resolved on the day
	UndatedRedemption data.Micro `json:"undated_redemption"` // of markets that were resolved at an unknown time and that the wallet traded last on the day; in no real_pnl of a day
	UndatedMarkets    int64      `json:"undated_markets"`    // how many such markets there are
	RealPnL           data.Micro `json:"real_pnl"`           // net_cash + redemption_value of the day
	CumulativePnL     data.Micro `json:"cumulative_pnl"`     // of all days up to this one
}

// TraderComparison is one wallet of GET /trader/compare: TraderStats beside
// others. Where found is false, everything but address is null.
type TraderComparison struct {
	Address         string      `json:"address"`
	Found           bool        `json:"found"`
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
	NegativeLegs    *int64      `json:"negative_legs"` // outcomes of resolved markets held short
	UnmappedFills   *int64      `json:"unmapped_fills"`
	PnLMethod       string      `json:"pnl_method"`
	UnrealizedPnL   *data.Micro `json:"unrealized_pnl"` // reserved, always null
}
