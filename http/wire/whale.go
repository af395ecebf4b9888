package wire

import (
	"time"

	"pmx/data"
)

// WhaleLeaderboard is the response of GET /whales.
type WhaleLeaderboard struct {
	Envelope
	AsOf         *time.Time `json:"as_of"` // null if the database is empty
	Period       string     `json:"period" enum:"1d,7d,30d"`
	WindowStart  *time.Time `json:"window_start"`  // start of the window, exclusive
	WindowEnd    *time.Time `json:"window_end"`    // end of the window, inclusive; equals as_of
	ThresholdUSD data.Micro `json:"threshold_usd"` // smallest order in USD that counts as a whale move
	Data         []WhaleRow `json:"data"`
}

// WhaleRow is one wallet of GET /whales.
type WhaleRow struct {
	Rank              int        `json:"rank"` // competition rank by whale_volume (1, 1, 3)
	Address           string     `json:"address"`
	Username          *string    `json:"username"`
	WhaleVolume       data.Micro `json:"whale_volume"` // USD of the wallet's whale moves in the window
	Moves             int64      `json:"moves"`
	BuyUSD            data.Micro `json:"buy_usd"`
	SellUSD           data.Micro `json:"sell_usd"`
	NetFlow           data.Micro `json:"net_flow"`     // buy_usd − sell_usd
	LargestMove       data.Micro `json:"largest_move"` // USD of the wallet's largest whale move in the window
	LastMoveAt        time.Time  `json:"last_move_at"`
	Volume            data.Micro `json:"volume"`             // USD of all fills of the wallet in the window
	RealPnL           data.Micro `json:"real_pnl"`           // lifetime `net_cash` + `redemption_value`; open positions are left out
	RealPnLPeriod     data.Micro `json:"real_pnl_period"`    // `net_cash` + `redemption_value` of the window
	UndatedRedemption data.Micro `json:"undated_redemption"` // USD that the wallet's tokens pay in markets that it traded in the window and that were resolved at an unknown time; not part of `real_pnl_period`
	UndatedMarkets    int64      `json:"undated_markets"`    // number of such markets
}

// WhaleMoves is the response of GET /whales/moves.
type WhaleMoves struct {
	Envelope
	AsOf         *time.Time  `json:"as_of"`         // null if the database is empty
	ThresholdUSD data.Micro  `json:"threshold_usd"` // smallest order in USD that counts as a whale move
	NextCursor   *string     `json:"next_cursor"`   // null on the last page
	Data         []WhaleMove `json:"data"`
}

// WhaleMove is the sum of the taker fills of one wallet, token and side in one transaction.
type WhaleMove struct {
	TS              time.Time   `json:"ts"`
	TransactionHash *string     `json:"transaction_hash"`
	Address         string      `json:"address"`
	Username        *string     `json:"username"`
	RealPnL         data.Micro  `json:"real_pnl"`     // lifetime `net_cash` + `redemption_value` of the wallet; open positions are left out
	ConditionID     *string     `json:"condition_id"` // condition id of the market, `0x` and 64 hexadecimal digits in lower case; null if the token's market is unknown
	Question        *string     `json:"question"`
	Slug            *string     `json:"slug"`
	EventID         *string     `json:"event_id"`
	EventSlug       *string     `json:"event_slug"`
	Category        *string     `json:"category"`
	Outcome         *string     `json:"outcome"`
	OutcomeIndex    *int8       `json:"outcome_index"`
	TokenID         string      `json:"token_id"`
	Side            string      `json:"side" enum:"BUY,SELL"` // the taker's side: BUY or SELL
	USD             data.Micro  `json:"usd"`
	Shares          data.Micro  `json:"shares"`
	Price           *data.Micro `json:"price"` // `usd` ÷ `shares`; null if `shares` is 0
	Fills           int64       `json:"fills"` // number of fills that make up the order
}

// WhaleFlow is the response of GET /whales/flow: sums over the requested markets, their time series, and the markets.
type WhaleFlow struct {
	Envelope
	AsOf         *time.Time        `json:"as_of"` // null if the database is empty
	Period       string            `json:"period" enum:"1d,7d,30d"`
	WindowStart  *time.Time        `json:"window_start"` // start of the window, exclusive
	WindowEnd    *time.Time        `json:"window_end"`   // end of the window, inclusive; equals as_of
	ThresholdUSD data.Micro        `json:"threshold_usd"`
	Moves        int64             `json:"moves"`
	BuyUSD       data.Micro        `json:"buy_usd"`
	SellUSD      data.Micro        `json:"sell_usd"`
	NetFlow      data.Micro        `json:"net_flow"`     // USD moved towards first outcomes, minus USD moved away from them
	UnmappedUSD  data.Micro        `json:"unmapped_usd"` // USD of whale moves of tokens whose market is unknown; not part of any other figure
	Total        int               `json:"total"`        // number of markets with a whale move, including those not shown
	Series       []WhaleFlowBucket `json:"series"`       // time series, oldest first; empty if the database is empty
	Data         []WhaleFlowMarket `json:"data"`
}

// WhaleFlowBucket is one interval of the window.
type WhaleFlowBucket struct {
	Start   time.Time  `json:"start"` // start of the interval, exclusive
	End     time.Time  `json:"end"`   // end of the interval, inclusive
	Moves   int64      `json:"moves"`
	BuyUSD  data.Micro `json:"buy_usd"`
	SellUSD data.Micro `json:"sell_usd"`
	NetFlow data.Micro `json:"net_flow"` // USD moved towards first outcomes, minus USD moved away from them
}

// WhaleFlowMarket is one market of GET /whales/flow.
type WhaleFlowMarket struct {
	Rank        int                `json:"rank"` // competition rank by the absolute value of net_flow
	ConditionID string             `json:"condition_id"`
	Question    *string            `json:"question"`
	Slug        *string            `json:"slug"`
	EventID     *string            `json:"event_id"`
	EventSlug   *string            `json:"event_slug"`
	Category    *string            `json:"category"`
	Moves       int64              `json:"moves"`
	Whales      int                `json:"whales"` // number of distinct wallets with a whale move in the market
	BuyUSD      data.Micro         `json:"buy_usd"`
	SellUSD     data.Micro         `json:"sell_usd"`
	NetFlow     data.Micro         `json:"net_flow"` // USD moved towards the first outcome, minus USD moved away from it
	Outcomes    []WhaleFlowOutcome `json:"outcomes"` // outcomes with a whale move, in the order of the payouts
}

// WhaleFlowOutcome is the whale moves in one outcome.
type WhaleFlowOutcome struct {
	Outcome      *string    `json:"outcome"`
	OutcomeIndex int8       `json:"outcome_index"`
	Moves        int64      `json:"moves"`
	BuyUSD       data.Micro `json:"buy_usd"`
	SellUSD      data.Micro `json:"sell_usd"`
	NetFlow      data.Micro `json:"net_flow"` // USD of buys of this outcome minus USD of sells of it
}
