package wire

import (
	"time"

	"pmx/data"
)

// WhaleBoard is the reply of GET /whales.
type WhaleBoard struct {
	Envelope
	AsOf         *time.Time `json:"as_of"` // null on an empty database
	Period       string     `json:"period" enum:"1d,7d,30d"`
	WindowStart  *time.Time `json:"window_start"`  // exclusive
	WindowEnd    *time.Time `json:"window_end"`    // inclusive; equals as_of
	ThresholdUSD data.Micro `json:"threshold_usd"` // from which on an order is a whale move
	Data         []WhaleRow `json:"data"`
}

// WhaleRow is one wallet of GET /whales.
type WhaleRow struct {
	Rank              int        `json:"rank"` // competition rank on whale_volume: 1, 1, 3
	Address           string     `json:"address"`
	Username          *string    `json:"username"`
	WhaleVolume       data.Micro `json:"whale_volume"` // dollars of its whale moves in the window
	Moves             int64      `json:"moves"`
	BuyUSD            data.Micro `json:"buy_usd"`
	SellUSD           data.Micro `json:"sell_usd"`
	NetFlow           data.Micro `json:"net_flow"`     // buy_usd − sell_usd
	LargestMove       data.Micro `json:"largest_move"` // dollars
	LastMoveAt        time.Time  `json:"last_move_at"`
	Volume            data.Micro `json:"volume"`             // dollars of all its fills in the window
	RealPnL           data.Micro `json:"real_pnl"`           // lifetime
	RealPnLPeriod     data.Micro `json:"real_pnl_period"`    // of the window
	UndatedRedemption data.Micro `json:"undated_redemption"` // what the wallet's tokens pay in markets that it traded in the window and that were resolved at an unknown time; not in real_pnl_period
	UndatedMarkets    int64      `json:"undated_markets"`    // how many such markets there are
}

// WhaleMoves is the reply of GET /whales/moves.
type WhaleMoves struct {
	Envelope
	AsOf         *time.Time  `json:"as_of"`         // null on an empty database
	ThresholdUSD data.Micro  `json:"threshold_usd"` // from which on an order is a whale move
	NextCursor   *string     `json:"next_cursor"`   // null at the end
	Data         []WhaleMove `json:"data"`
}

// WhaleMove is the taker fills of one wallet, token and side in one transaction,
// together.
type WhaleMove struct {
	TS              time.Time   `json:"ts"`
	TransactionHash *string     `json:"transaction_hash"`
	Address         string      `json:"address"`
	Username        *string     `json:"username"`
	RealPnL         data.Micro  `json:"real_pnl"`     // of the wallet, lifetime
	ConditionID     *string     `json:"condition_id"` // null: the token's market is not known
	Question        *string     `json:"question"`
	Slug            *string     `json:"slug"`
	EventID         *string     `json:"event_id"`
	EventSlug       *string     `json:"event_slug"`
	Category        *string     `json:"category"`
	Outcome         *string     `json:"outcome"`
	OutcomeIndex    *int8       `json:"outcome_index"`
	TokenID         string      `json:"token_id"`
	Side            string      `json:"side" enum:"BUY,SELL"` // of the taker
	USD             data.Micro  `json:"usd"`
	Shares          data.Micro  `json:"shares"`
	Price           *data.Micro `json:"price"` // usd ÷ shares; null of no shares
	Fills           int64       `json:"fills"` // that the order was filled with
}

// WhaleFlow is the reply of GET /whales/flow: sums over the markets asked for,
// their course, and the markets.
type WhaleFlow struct {
	Envelope
	AsOf         *time.Time        `json:"as_of"` // null on an empty database
	Period       string            `json:"period" enum:"1d,7d,30d"`
	WindowStart  *time.Time        `json:"window_start"` // exclusive
	WindowEnd    *time.Time        `json:"window_end"`   // inclusive; equals as_of
	ThresholdUSD data.Micro        `json:"threshold_usd"`
	Moves        int64             `json:"moves"`
	BuyUSD       data.Micro        `json:"buy_usd"`
	SellUSD      data.Micro        `json:"sell_usd"`
	NetFlow      data.Micro        `json:"net_flow"`     // towards first outcomes, less away from them
	UnmappedUSD  data.Micro        `json:"unmapped_usd"` // moves of tokens whose market is not known, in no other figure
	Total        int               `json:"total"`        // markets with a move, beyond those shown too
	Series       []WhaleFlowBucket `json:"series"`       // oldest first; empty on an empty database
	Data         []WhaleFlowMarket `json:"data"`
}

// WhaleFlowBucket is one stretch of the window.
type WhaleFlowBucket struct {
	Start   time.Time  `json:"start"` // exclusive
	End     time.Time  `json:"end"`   // inclusive
	Moves   int64      `json:"moves"`
	BuyUSD  data.Micro `json:"buy_usd"`
	SellUSD data.Micro `json:"sell_usd"`
	NetFlow data.Micro `json:"net_flow"` // towards first outcomes, less away from them
}

// WhaleFlowMarket is one market of GET /whales/flow.
type WhaleFlowMarket struct {
	Rank        int                `json:"rank"` // competition rank on the size of net_flow
	ConditionID string             `json:"condition_id"`
	Question    *string            `json:"question"`
	Slug        *string            `json:"slug"`
	EventID     *string            `json:"event_id"`
	EventSlug   *string            `json:"event_slug"`
	Category    *string            `json:"category"`
	Moves       int64              `json:"moves"`
	Whales      int                `json:"whales"` // distinct wallets
	BuyUSD      data.Micro         `json:"buy_usd"`
	SellUSD     data.Micro         `json:"sell_usd"`
	NetFlow     data.Micro         `json:"net_flow"` // towards the first outcome, less away from it
	Outcomes    []WhaleFlowOutcome `json:"outcomes"` // with a move, in payout order
}

// WhaleFlowOutcome is what whales did with one outcome.
type WhaleFlowOutcome struct {
	Outcome      *string    `json:"outcome"`
	OutcomeIndex int8       `json:"outcome_index"`
	Moves        int64      `json:"moves"`
	BuyUSD       data.Micro `json:"buy_usd"`
	SellUSD      data.Micro `json:"sell_usd"`
	NetFlow      data.Micro `json:"net_flow"` // buys of this outcome less sells of it
}
