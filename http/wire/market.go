package wire

import (
	"time"

	"pmx/data"
)

// Ranked is a part of a list whose whole length is known.
type Ranked[T any] struct {
	Envelope
	AsOf  *time.Time `json:"as_of"` // time up to which the data is complete; null on an empty database
	Total int        `json:"total"` // rows there are, beyond those shown too
	Data  []T        `json:"data"`
}

// MarketOverview is the reply of GET /market/{condition_id}/overview.
type MarketOverview struct {
	ConditionID      string            `json:"condition_id"`
	Question         *string           `json:"question"`
	Slug             *string           `json:"slug"`
	Description      *string           `json:"description"`       // rules of resolution, as the venue words them
	ResolutionSource *string           `json:"resolution_source"` // where the outcome is read, as the venue says
	GroupItemTitle   *string           `json:"group_item_title"`  // what tells the market from others of its event
	EventID          *string           `json:"event_id"`
	EventSlug        *string           `json:"event_slug"`
	EventTitle       *string           `json:"event_title"`
	SeriesSlug       *string           `json:"series_slug"` // recurring events that this one belongs to
	Category         *string           `json:"category"`
	Tags             []string          `json:"tags" null:"true"` // slugs; null where unknown
	NegRisk          *bool             `json:"neg_risk"`         // at most one market of the event pays
	Status           string            `json:"status" enum:"open,closed,resolved"`
	AcceptingOrders  *bool             `json:"accepting_orders"` // whether orders are taken, as the venue told last
	CreatedAt        *time.Time        `json:"created_at"`
	StartDate        *time.Time        `json:"start_date"`
	EndDate          *time.Time        `json:"end_date"`
	ClosedAt         *time.Time        `json:"closed_at"`  // when trading ended
	UpdatedAt        *time.Time        `json:"updated_at"` // version of the description
	Volume           data.Micro        `json:"volume"`     // dollars, lifetime
	VolumeShares     data.Micro        `json:"volume_shares"`
	VolumeBasis      *string           `json:"volume_basis" enum:"taker_usd,maker_usd"` // what volumes and trades count; null without a trade
	Volume24h        data.Micro        `json:"volume_24h"`
	Volume7d         data.Micro        `json:"volume_7d"`
	Volume30d        data.Micro        `json:"volume_30d"`
	Trades           int64             `json:"trades"` // fills behind volume: one per match
	Traders          int64             `json:"traders"`
	Traders24h       int64             `json:"traders_24h"`
	FirstTradeAt     *time.Time        `json:"first_trade_at"`
	LastTradeAt      *time.Time        `json:"last_trade_at"`
	Price            *data.Micro       `json:"price"` // of the first outcome: last trade, or payout; null before either
	PriceChange24h   *data.Micro       `json:"price_change_24h"`
	BestBid          *data.Micro       `json:"best_bid"` // of the first outcome, by the newest record; null where nobody bids, and where the market is not open
	BestAsk          *data.Micro       `json:"best_ask"` // of the first outcome, by the newest record; null where nobody asks, and where the market is not open
	Spread           *data.Micro       `json:"spread"`
	Liquidity        *data.Micro       `json:"liquidity"`
	ReportedVolume   *data.Micro       `json:"reported_volume"` // what the venue claims, mixed into nothing
	Outcomes         []MarketOutcome   `json:"outcomes"`        // in payout order; empty where none is known
	Resolution       *MarketResolution `json:"resolution"`      // null until resolved
	RecentFills      []MarketFill      `json:"recent_fills"`    // newest first, at most 20, of every party
}

// MarketOutcome is one outcome of a market.
type MarketOutcome struct {
	Outcome      *string     `json:"outcome"`
	OutcomeIndex int         `json:"outcome_index"`
	TokenID      *string     `json:"token_id"` // uint256 in decimal; null where unknown
	Price        *data.Micro `json:"price"`    // last trade, or payout; null before either
	Payout       *data.Micro `json:"payout"`   // dollars per token; null until resolved
}

// MarketResolution is how a market was resolved.
type MarketResolution struct {
	Payouts          []data.Micro `json:"payouts"` // dollars per token, in the order of outcomes
	Winner           *string      `json:"winner"`  // the outcome that pays in full; null where the payout is split
	ResolvedAt       *time.Time   `json:"resolved_at"`
	ResolvedAtSource *string      `json:"resolved_at_source" enum:"end_date,closed_time,oracle,chain"`
	Source           *string      `json:"source" enum:"map,prices,winner,api,chain"` // where the payouts were read, the last being the best
}

// MarketFill is one party's side of a match in a market.
type MarketFill struct {
	TS              time.Time   `json:"ts"`
	TransactionHash *string     `json:"transaction_hash"`
	LogIndex        *int32      `json:"log_index"`
	Address         string      `json:"address"`
	Username        *string     `json:"username"`
	Outcome         *string     `json:"outcome"`
	OutcomeIndex    *int8       `json:"outcome_index"`
	TokenID         string      `json:"token_id"` // uint256 in decimal
	Side            string      `json:"side" enum:"BUY,SELL"`
	Role            *string     `json:"role" enum:"maker,taker"`
	Price           *data.Micro `json:"price"` // usd ÷ shares; null for a fill of no shares
	Shares          data.Micro  `json:"shares"`
	USD             data.Micro  `json:"usd"`
	Fee             data.Micro  `json:"fee"`
	FeeAsset        string      `json:"fee_asset" enum:"shares,usd"` // what fee is counted in
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
	Outcomes         []string     `json:"outcomes" null:"true"` // null where unknown
	Payouts          []data.Micro `json:"payouts" null:"true"`  // dollars per token, in the order of outcomes; null until resolved
	Price            *data.Micro  `json:"price"`                // of the first outcome: last trade, or payout; null before either
	PriceChange24h   *data.Micro  `json:"price_change_24h"`
	Spread           *data.Micro  `json:"spread"`
	Liquidity        *data.Micro  `json:"liquidity"`
	Volume           data.Micro   `json:"volume"` // dollars, lifetime
	VolumeShares     data.Micro   `json:"volume_shares"`
	VolumeBasis      *string      `json:"volume_basis" enum:"taker_usd,maker_usd"` // what volumes and trades count; null without a trade
	Volume24h        data.Micro   `json:"volume_24h"`
	Volume7d         data.Micro   `json:"volume_7d"`
	Volume30d        data.Micro   `json:"volume_30d"`
	Trades           int64        `json:"trades"` // fills behind volume: one per match
	Traders          int64        `json:"traders"`
	Traders24h       int64        `json:"traders_24h"`
	FirstTradeAt     *time.Time   `json:"first_trade_at"`
	LastTradeAt      *time.Time   `json:"last_trade_at"`
	ResolvedAt       *time.Time   `json:"resolved_at"`
	ResolvedAtSource *string      `json:"resolved_at_source" enum:"end_date,closed_time,oracle,chain"`
	EndDate          *time.Time   `json:"end_date"`
}

// EventOverview is the reply of GET /event/{event_id}: sums over the event's
// markets.
type EventOverview struct {
	EventID         *string     `json:"event_id"`
	EventSlug       *string     `json:"event_slug"`
	Title           *string     `json:"title"`       // title of the event; null where no market tells it
	SeriesSlug      *string     `json:"series_slug"` // recurring events that this one belongs to
	Category        *string     `json:"category"`
	NegRisk         *bool       `json:"neg_risk"`                           // at most one of the markets pays
	Status          string      `json:"status" enum:"open,closed,resolved"` // open while a market is, resolved once all are
	StartDate       *time.Time  `json:"start_date"`                         // the earliest of its markets
	EndDate         *time.Time  `json:"end_date"`                           // the latest of its markets
	Markets         int         `json:"markets"`                            // number of its markets
	OpenMarkets     int         `json:"open_markets"`                       // of its markets, those that are open
	ClosedMarkets   int         `json:"closed_markets"`                     // closed and not resolved
	ResolvedMarkets int         `json:"resolved_markets"`
	Volume          data.Micro  `json:"volume"` // dollars, lifetime
	VolumeShares    data.Micro  `json:"volume_shares"`
	VolumeBasis     *string     `json:"volume_basis" enum:"taker_usd,maker_usd,mixed"` // of the markets; null without a trade
	Volume24h       data.Micro  `json:"volume_24h"`
	Volume7d        data.Micro  `json:"volume_7d"`
	Volume30d       data.Micro  `json:"volume_30d"`
	Trades          int64       `json:"trades"` // fills behind volume: one per match
	Traders         int64       `json:"traders"`
	Liquidity       *data.Micro `json:"liquidity"` // of the markets that tell theirs
	FirstTradeAt    *time.Time  `json:"first_trade_at"`
	LastTradeAt     *time.Time  `json:"last_trade_at"`
}

// EventTrader is one row of GET /event/{event_id}/traders: a wallet's lifetime
// figures over the event's markets.
type EventTrader struct {
	Rank            int         `json:"rank"` // competition rank on real_pnl: 1, 1, 3
	Address         string      `json:"address"`
	Username        *string     `json:"username"`
	RealPnL         data.Micro  `json:"real_pnl"` // net_cash + redemption_value
	NetCash         data.Micro  `json:"net_cash"`
	RedemptionValue data.Micro  `json:"redemption_value"`
	Volume          data.Micro  `json:"volume"`
	BuyVolumeUSD    data.Micro  `json:"buy_volume_usd"`
	SellVolumeUSD   data.Micro  `json:"sell_volume_usd"`
	Trades          int64       `json:"trades"`
	ROI             *data.Micro `json:"roi"`     // null when nothing was bought
	Markets         int64       `json:"markets"` // of the event, traded
	ResolvedMarkets int64       `json:"resolved_markets"`
	WinningMarkets  int64       `json:"winning_markets"`
}
