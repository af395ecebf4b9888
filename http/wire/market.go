package wire

import (
	"time"

	"pmx/data"
)

// Ranked is a page of a list whose total length is known.
type Ranked[T any] struct {
	Envelope
	AsOf  *time.Time `json:"as_of"` // time up to which the data is complete; null if the database is empty
	Total int        `json:"total"` // number of rows, including those not shown
	Data  []T        `json:"data"`
}

// MarketOverview is the response of GET /market/{condition_id}/overview.
type MarketOverview struct {
	ConditionID      string            `json:"condition_id"`
	Question         *string           `json:"question"`
	Slug             *string           `json:"slug"`
	Description      *string           `json:"description"`       // rules of resolution, in the venue's words
	ResolutionSource *string           `json:"resolution_source"` // where the result is looked up, according to the venue
	GroupItemTitle   *string           `json:"group_item_title"`  // what distinguishes the market from the others of its event
	EventID          *string           `json:"event_id"`
	EventSlug        *string           `json:"event_slug"`
	EventTitle       *string           `json:"event_title"`
	SeriesSlug       *string           `json:"series_slug"` // slug of the series of recurring events that this one belongs to; null if unknown
	Category         *string           `json:"category"`
	Tags             []string          `json:"tags" null:"true"` // slugs of the tags; null if unknown
	NegRisk          *bool             `json:"neg_risk"`         // whether at most one market of the event pays; null if unknown
	Status           string            `json:"status" enum:"open,closed,resolved"`
	AcceptingOrders  *bool             `json:"accepting_orders"` // whether orders are accepted, as last reported by the venue; null if not reported
	CreatedAt        *time.Time        `json:"created_at"`
	StartDate        *time.Time        `json:"start_date"`
	EndDate          *time.Time        `json:"end_date"`
	ClosedAt         *time.Time        `json:"closed_at"`  // when trading ended; null if it has not or the time is unknown
	UpdatedAt        *time.Time        `json:"updated_at"` // when the market's description was last updated at its source; null if unknown
	Volume           data.Micro        `json:"volume"`     // USD traded since the first fill
	VolumeShares     data.Micro        `json:"volume_shares"`
	VolumeBasis      *string           `json:"volume_basis" enum:"taker_usd,maker_usd"` // whose fills are counted in volumes and trades; null if there are no trades
	Volume24h        data.Micro        `json:"volume_24h"`
	Volume7d         data.Micro        `json:"volume_7d"`
	Volume30d        data.Micro        `json:"volume_30d"`
	Trades           int64             `json:"trades"` // number of fills counted in volume: one per match
	Traders          int64             `json:"traders"`
	Traders24h       int64             `json:"traders_24h"`
	FirstTradeAt     *time.Time        `json:"first_trade_at"`
	LastTradeAt      *time.Time        `json:"last_trade_at"`
	Price            *data.Micro       `json:"price"` // price of the first outcome: its payout once resolved, otherwise the price of its last trade; null if there is neither
	PriceChange24h   *data.Micro       `json:"price_change_24h"`
	BestBid          *data.Micro       `json:"best_bid"`  // best bid for the first outcome, from the newest record; null if there is no bid or the market is not open
	BestAsk          *data.Micro       `json:"best_ask"`  // best ask for the first outcome, from the newest record; null if there is no ask or the market is not open
	QuotedAt         *time.Time        `json:"quoted_at"` // when a source reported best_bid and best_ask; null if neither is known, or the time is not
	Spread           *data.Micro       `json:"spread"`
	Liquidity        *data.Micro       `json:"liquidity"`
	ReportedVolume   *data.Micro       `json:"reported_volume"` // volume that the venue reports; it is not part of any other figure; null if not reported
	Outcomes         []MarketOutcome   `json:"outcomes"`        // outcomes in the order of the payouts; empty if none is known
	Resolution       *MarketResolution `json:"resolution"`      // the resolution; null until resolved
	RecentFills      []MarketFill      `json:"recent_fills"`    // newest fills, with both sides of each match; at most 20, newest first
}

// MarketOutcome is one outcome of a market.
type MarketOutcome struct {
	Outcome      *string     `json:"outcome"`
	OutcomeIndex int         `json:"outcome_index"`
	TokenID      *string     `json:"token_id"` // id of the outcome token, a uint256 in decimal; null if unknown
	Price        *data.Micro `json:"price"`    // payout once resolved, otherwise the last price traded; null if there is neither
	Payout       *data.Micro `json:"payout"`   // payout in USD per token; null until resolved
}

// MarketResolution is how a market was resolved.
type MarketResolution struct {
	Payouts          []data.Micro `json:"payouts"` // payouts in USD per token, in the order of the outcomes
	Winner           *string      `json:"winner"`  // the outcome that pays in full; null if the payout is split
	ResolvedAt       *time.Time   `json:"resolved_at"`
	ResolvedAtSource *string      `json:"resolved_at_source" enum:"end_date,closed_time,oracle,chain"`
	Source           *string      `json:"source" enum:"map,prices,winner,api,derived,chain"` // where the payouts come from, the most reliable source listed last
}

// MarketFill is one party's side of a match in a market.
type MarketFill struct {
	TS              time.Time   `json:"ts"`
	TransactionHash *string     `json:"transaction_hash"`
	LogIndex        *int32      `json:"log_index"`
	Ordinal         int16       `json:"ordinal"` // number that distinguishes otherwise equal fills, counted from 1; always 1 for fills with a log_index
	Address         string      `json:"address"`
	Username        *string     `json:"username"`
	Outcome         *string     `json:"outcome"`
	OutcomeIndex    *int8       `json:"outcome_index"`
	TokenID         string      `json:"token_id"` // id of the outcome token, a uint256 in decimal
	Side            string      `json:"side" enum:"BUY,SELL"`
	Role            *string     `json:"role" enum:"maker,taker"`
	Price           *data.Micro `json:"price"` // `usd` ÷ `shares`; null if `shares` is 0
	Shares          data.Micro  `json:"shares"`
	USD             data.Micro  `json:"usd"`
	Fee             data.Micro  `json:"fee"`
	FeeAsset        string      `json:"fee_asset" enum:"shares,usd"` // unit of the fee
}

// MarketSummary is a market with its figures in one row.
type MarketSummary struct {
	ConditionID      string       `json:"condition_id"`
	Question         *string      `json:"question"`
	Slug             *string      `json:"slug"`
	EventID          *string      `json:"event_id"`
	EventSlug        *string      `json:"event_slug"`
	Category         *string      `json:"category"`
	Status           string       `json:"status" enum:"open,closed,resolved"`
	Outcomes         []string     `json:"outcomes" null:"true"` // names of the outcomes; null if unknown
	Payouts          []data.Micro `json:"payouts" null:"true"`  // payouts in USD per token, in the order of the outcomes; null until resolved
	Price            *data.Micro  `json:"price"`                // price of the first outcome: its payout once resolved, otherwise the price of its last trade; null if there is neither
	PriceChange24h   *data.Micro  `json:"price_change_24h"`
	Spread           *data.Micro  `json:"spread"`
	Liquidity        *data.Micro  `json:"liquidity"`
	Volume           data.Micro   `json:"volume"` // USD traded since the first fill
	VolumeShares     data.Micro   `json:"volume_shares"`
	VolumeBasis      *string      `json:"volume_basis" enum:"taker_usd,maker_usd"` // whose fills are counted in volumes and trades; null if there are no trades
	Volume24h        data.Micro   `json:"volume_24h"`
	Volume7d         data.Micro   `json:"volume_7d"`
	Volume30d        data.Micro   `json:"volume_30d"`
	Trades           int64        `json:"trades"` // number of fills counted in volume: one per match
	Traders          int64        `json:"traders"`
	Traders24h       int64        `json:"traders_24h"`
	FirstTradeAt     *time.Time   `json:"first_trade_at"`
	LastTradeAt      *time.Time   `json:"last_trade_at"`
	ResolvedAt       *time.Time   `json:"resolved_at"`
	ResolvedAtSource *string      `json:"resolved_at_source" enum:"end_date,closed_time,oracle,chain"`
	EndDate          *time.Time   `json:"end_date"`
}

// EventOverview is the response of GET /event/{event_id}: sums over the event's markets.
type EventOverview struct {
	EventID         *string     `json:"event_id"`
	EventSlug       *string     `json:"event_slug"`
	Title           *string     `json:"title"`       // title of the event; null if no market gives it
	SeriesSlug      *string     `json:"series_slug"` // slug of the series of recurring events that this one belongs to; null if unknown
	Category        *string     `json:"category"`
	NegRisk         *bool       `json:"neg_risk"`                           // whether at most one of the markets pays; null if unknown
	Status          string      `json:"status" enum:"open,closed,resolved"` // open while any of its markets is open, resolved once all are resolved, otherwise closed
	StartDate       *time.Time  `json:"start_date"`                         // earliest start_date of its markets; null if unknown
	EndDate         *time.Time  `json:"end_date"`                           // latest end_date of its markets; null if unknown
	Markets         int         `json:"markets"`                            // number of markets
	OpenMarkets     int         `json:"open_markets"`                       // number of markets that are open
	ClosedMarkets   int         `json:"closed_markets"`                     // number of markets that are closed and not resolved
	ResolvedMarkets int         `json:"resolved_markets"`
	Volume          data.Micro  `json:"volume"` // USD traded since the first fill
	VolumeShares    data.Micro  `json:"volume_shares"`
	VolumeBasis     *string     `json:"volume_basis" enum:"taker_usd,maker_usd,mixed"` // whose fills are counted in volumes and trades; mixed if the markets differ; null if there are no trades
	Volume24h       data.Micro  `json:"volume_24h"`
	Volume7d        data.Micro  `json:"volume_7d"`
	Volume30d       data.Micro  `json:"volume_30d"`
	Trades          int64       `json:"trades"` // number of fills counted in volume: one per match
	Traders         int64       `json:"traders"`
	Liquidity       *data.Micro `json:"liquidity"` // sum over the markets that report their liquidity; null if none does
	FirstTradeAt    *time.Time  `json:"first_trade_at"`
	LastTradeAt     *time.Time  `json:"last_trade_at"`
}

// EventTrader is a row of GET /event/{event_id}/traders: a wallet's lifetime figures over the event's markets.
type EventTrader struct {
	Rank            int         `json:"rank"` // competition rank by real_pnl (1, 1, 3)
	Address         string      `json:"address"`
	Username        *string     `json:"username"`
	RealPnL         data.Micro  `json:"real_pnl"` // `net_cash` + `redemption_value`; open positions are left out
	NetCash         data.Micro  `json:"net_cash"`
	RedemptionValue data.Micro  `json:"redemption_value"`
	Volume          data.Micro  `json:"volume"`
	BuyVolumeUSD    data.Micro  `json:"buy_volume_usd"`
	SellVolumeUSD   data.Micro  `json:"sell_volume_usd"`
	Trades          int64       `json:"trades"`
	ROI             *data.Micro `json:"roi"`     // null if nothing was bought
	Markets         int64       `json:"markets"` // number of markets of the event that the wallet traded
	ResolvedMarkets int64       `json:"resolved_markets"`
	WinningMarkets  int64       `json:"winning_markets"`
}

// NewestTrades are trades that are not in the data yet: the response of GET /trades/newest.
type NewestTrades struct {
	Envelope
	AsOf        *time.Time    `json:"as_of"`                                   // time up to which the data is complete; all rows are later; null if the database is empty
	Reception   string        `json:"reception" enum:"live,polled,silent,off"` // live: trades are received as they happen; polled: the venue's list is read every few seconds; silent: nothing is received, so rows are missing; off: this server does not follow the newest trades
	SilentSince *time.Time    `json:"silent_since"`                            // when something was last received; null unless `reception` is silent, and also null if nothing was ever received
	Data        []NewestTrade `json:"data"`                                    // rows, newest first
}

// NewestTrade is one wallet's side of a trade that is not final: it may never be in the data.
type NewestTrade struct {
	TS              time.Time  `json:"ts"`                                // time of its block
	ReceivedAt      time.Time  `json:"received_at"`                       // when this server received it
	ReceivedFrom    string     `json:"received_from" enum:"channel,list"` // where it was received first: channel is the venue's websocket, list is its list of trades
	TransactionHash *string    `json:"transaction_hash"`                  // null if not reported
	ConditionID     *string    `json:"condition_id"`
	Question        *string    `json:"question"`
	Slug            *string    `json:"slug"`
	EventID         *string    `json:"event_id"`
	EventSlug       *string    `json:"event_slug"`
	Outcome         *string    `json:"outcome"`
	OutcomeIndex    *int8      `json:"outcome_index"`
	TokenID         string     `json:"token_id"` // id of the outcome token, a uint256 in decimal
	Address         string     `json:"address"`
	Username        *string    `json:"username"`
	Side            string     `json:"side" enum:"BUY,SELL"` // the wallet's side: BUY or SELL
	Price           data.Micro `json:"price"`                // USD per token
	Shares          data.Micro `json:"shares"`               // outcome tokens
	USD             data.Micro `json:"usd"`                  // `price` × `shares`; the final figure may differ by the last digits
}

// Candles is the response of GET /market/{condition_id}/candles.
type Candles struct {
	Envelope
	AsOf         *time.Time      `json:"as_of"`
	NextCursor   *string         `json:"next_cursor"`              // null on the last page
	Interval     string          `json:"interval" enum:"1h,6h,1d"` // length of the interval that a row covers
	Outcomes     []CandleOutcome `json:"outcomes"`                 // outcomes of the market
	FirstTradeAt *time.Time      `json:"first_trade_at"`           // time of the market's first fill; null if there is none
	Data         []Candle        `json:"data"`
}

// CandleOutcome is an outcome of a market.
type CandleOutcome struct {
	Outcome      *string `json:"outcome"`
	OutcomeIndex int8    `json:"outcome_index"`
}

// Candle is what takers traded of one outcome in one interval. The prices are null if no fill moved
// any tokens.
type Candle struct {
	TS           time.Time   `json:"ts"` // start of the interval, UTC
	OutcomeIndex int8        `json:"outcome_index"`
	Open         *data.Micro `json:"open"`          // price of the first fill
	High         *data.Micro `json:"high"`          // highest price
	Low          *data.Micro `json:"low"`           // lowest price
	Close        *data.Micro `json:"close"`         // price of the last fill
	Volume       data.Micro  `json:"volume"`        // USD traded in the interval
	VolumeShares data.Micro  `json:"volume_shares"` // outcome tokens traded in the interval
	Trades       int64       `json:"trades"`        // number of takers' fills
	IsPartial    bool        `json:"is_partial"`    // whether the interval is still in progress: it contains as_of
}

// Holders is the response of GET /market/{condition_id}/holders.
type Holders struct {
	Envelope
	AsOf     *time.Time       `json:"as_of"`
	Total    int              `json:"total"`                  // number of rows, including those not shown
	Side     string           `json:"side" enum:"long,short"` // which wallets are listed. long: those that hold tokens; short: those that sold more tokens than they bought
	Basis    string           `json:"basis" enum:"fills"`     // what the shares are computed from: the wallets' fills; transfers of tokens are not included
	Outcomes []OutcomeHolders `json:"outcomes"`               // outcomes of the market, with sums over all wallets
	Data     []Holder         `json:"data"`
}

// OutcomeHolders is the sums over the wallets that hold an outcome of a market, and over those that
// sold more of it than they bought.
type OutcomeHolders struct {
	Outcome      *string    `json:"outcome"`
	OutcomeIndex int8       `json:"outcome_index"`
	Holders      int        `json:"holders"`      // number of wallets whose net_shares are positive
	LongShares   data.Micro `json:"long_shares"`  // sum of their net_shares
	Shorts       int        `json:"shorts"`       // number of wallets whose net_shares are negative
	ShortShares  data.Micro `json:"short_shares"` // sum of the absolute values of their net_shares
}

// Holder is a row of GET /market/{condition_id}/holders: a wallet's long or short position in one outcome.
type Holder struct {
	Rank          int         `json:"rank"` // competition rank by net_shares (1, 1, 3)
	Address       string      `json:"address"`
	Username      *string     `json:"username"`
	Outcome       *string     `json:"outcome"`
	OutcomeIndex  int8        `json:"outcome_index"`
	NetShares     data.Micro  `json:"net_shares"`    // buy_shares − sell_shares − fee_shares of the outcome; negative if `side` is short
	SharePct      data.Micro  `json:"share_pct"`     // percentage of the outcome's `long_shares`, or of its `short_shares` if `side` is short
	AvgBuyPrice   *data.Micro `json:"avg_buy_price"` // average USD paid per token of the outcome; null if none was bought
	BuyVolumeUSD  data.Micro  `json:"buy_volume_usd"`
	SellVolumeUSD data.Micro  `json:"sell_volume_usd"`
	NetCash       data.Micro  `json:"net_cash"` // `net_cash` of the fills of the outcome
	RealPnL       data.Micro  `json:"real_pnl"` // `real_pnl` of the wallet in the whole market, as in `/trader/{address}/markets`
}
