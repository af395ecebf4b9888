package wire

import (
	"time"

	"pmx/data"
)

// ScreenerRow is one market in GET /screener and GET /markets/search. Windows end at as_of. The screener's parameter
// `fields` restricts the members; a search always returns all of them.
type ScreenerRow struct {
	ConditionID      string      `json:"condition_id" optional:"true"`
	Question         *string     `json:"question" optional:"true"`
	Slug             *string     `json:"slug" optional:"true"`
	EventID          *string     `json:"event_id" optional:"true"`
	EventSlug        *string     `json:"event_slug" optional:"true"`
	EventTitle       *string     `json:"event_title" optional:"true"`
	Category         *string     `json:"category" optional:"true"`
	Tags             []string    `json:"tags" null:"true" optional:"true"`                        // tags of the market; null if no source gave any
	Status           string      `json:"status" enum:"open,closed,resolved" optional:"true"`      // open, closed (trading has ended) or resolved (payouts are known); open if no source says that trading has ended
	NegRisk          *bool       `json:"neg_risk" optional:"true"`                                // whether at most one market of the event can win; null if no source says
	Outcomes         []string    `json:"outcomes" null:"true" optional:"true"`                    // names of the outcomes in the order of the payouts; null if unknown
	Price            *data.Micro `json:"price" optional:"true"`                                   // price of the first outcome: its payout once resolved, otherwise the price of its last trade; null if there is neither
	PriceChange24h   *data.Micro `json:"price_change_24h" optional:"true"`                        // `price` minus the price 24 hours before `as_of`; null if there was none
	Spread           *data.Micro `json:"spread" optional:"true"`                                  // best ask minus best bid, as last reported by the venue; null if not reported
	Liquidity        *data.Micro `json:"liquidity" optional:"true"`                               // liquidity in USD, as last reported by the venue; null if not reported
	Volume24h        data.Micro  `json:"volume_24h" optional:"true"`                              // USD traded in the last 24 hours
	Volume7d         data.Micro  `json:"volume_7d" optional:"true"`                               // USD traded in the last 168 hours
	Volume30d        data.Micro  `json:"volume_30d" optional:"true"`                              // USD traded in the last 720 hours
	Volume           data.Micro  `json:"volume" optional:"true"`                                  // USD traded since the first fill
	VolumeBasis      *string     `json:"volume_basis" enum:"taker_usd,maker_usd" optional:"true"` // whose fills are counted in volumes and trades; null if there are no trades
	Traders24h       int64       `json:"traders_24h" optional:"true"`                             // distinct wallets that traded in the last 24 hours
	Traders          int64       `json:"traders" optional:"true"`
	Trades           int64       `json:"trades" optional:"true"`         // number of fills counted in volume: one per match
	WhaleFlow24h     data.Micro  `json:"whale_flow_24h" optional:"true"` // USD of whale moves of the last 24 hours towards the first outcome, minus those away from it; 0 if there are none
	CreatedAt        *time.Time  `json:"created_at" optional:"true"`     // when the market was created; null if unknown
	EndDate          *time.Time  `json:"end_date" optional:"true"`
	ResolvedAt       *time.Time  `json:"resolved_at" optional:"true"` // when the market was resolved; null if it is not resolved or the time is unknown
	ResolvedAtSource *string     `json:"resolved_at_source" enum:"end_date,closed_time,oracle,chain" optional:"true"`
	LastTradeAt      *time.Time  `json:"last_trade_at" optional:"true"`
}

// MarketHit is one market found by GET /markets/search.
type MarketHit struct {
	// quality of the match, best first. whole_title: the words make up the whole title; title: all are words of the
	// title; exact: some are words of the event or slug instead; title_prefix and prefix: the same as title and exact,
	// but with beginnings of words; title_typo and typo: the same as title_prefix and prefix, but with a typo in one
	// word
	Match       string `json:"match" enum:"whole_title,title,exact,title_prefix,prefix,title_typo,typo"`
	ScreenerRow `whole:"true"`
}

// MarketHits is the response of GET /markets/search.
type MarketHits struct {
	Envelope
	AsOf  *time.Time  `json:"as_of"` // null if the database is empty
	Total int         `json:"total"` // number of markets that match, including those not shown
	Data  []MarketHit `json:"data"`
}

// Found is one row of GET /search.
type Found struct {
	Kind     string      `json:"kind" enum:"event,market,trader,city"` // what was found
	ID       string      `json:"id"`                                   // what the path of its endpoints takes: slug or id of an event, condition id, address, or slug of a city
	Title    *string     `json:"title"`                                // title of the event, question of the market, username of the wallet or name of the city; null if unknown
	Subtitle *string     `json:"subtitle"`                             // title of the market's event, or country of the city; null for other kinds
	Category *string     `json:"category"`                             // null for wallets and cities
	Status   *string     `json:"status" enum:"open,closed,resolved"`   // null for wallets and cities
	Volume   *data.Micro `json:"volume"`                               // USD traded since the first fill; null for cities
}

// ScreenerSummary is the sums over the markets that match the filters of GET /screener.
type ScreenerSummary struct {
	Count            int64         `json:"count"`             // number of markets
	Volume24h        data.Micro    `json:"volume_24h"`        // USD traded in the last 24 hours
	Volume7d         data.Micro    `json:"volume_7d"`         // USD traded in the last 168 hours
	Volume30d        data.Micro    `json:"volume_30d"`        // USD traded in the last 720 hours
	Volume           data.Micro    `json:"volume"`            // USD traded since the first fill
	Liquidity        *data.Micro   `json:"liquidity"`         // liquidity in USD of the markets that report it; null if none does
	LiquidityMarkets int64         `json:"liquidity_markets"` // number of markets that report their liquidity
	ByCategory       []Facet       `json:"by_category"`       // markets by category, largest count first, ties by name
	ByStatus         []Facet       `json:"by_status"`         // markets by status; every status is listed, even without markets
	TagCount         int           `json:"tag_count"`         // number of distinct tags
	ByTag            []Facet       `json:"by_tag"`            // the 50 tags with the most markets, ties by name; a market counts once for each of its tags
	ByPrice          []PriceBucket `json:"by_price"`          // ten price intervals of equal width, and the markets without a price
	ByEndDate        []EndBucket   `json:"by_end_date"`       // markets by time from as_of to their scheduled end
}

// Facet is the markets with one category, status or tag.
type Facet struct {
	Name      *string    `json:"name"`       // the category, status or tag; null for markets without one
	Count     int64      `json:"count"`      // number of markets
	Volume24h data.Micro `json:"volume_24h"` // USD traded in the last 24 hours
}

// PriceBucket is the markets whose price is in an interval.
type PriceBucket struct {
	From      *data.Micro `json:"from"`       // lower bound, inclusive; null for the markets without a price
	To        *data.Micro `json:"to"`         // upper bound, exclusive except for 1; null for the markets without a price
	Count     int64       `json:"count"`      // number of markets
	Volume24h data.Micro  `json:"volume_24h"` // USD traded in the last 24 hours
}

// EndBucket is the markets that are scheduled to end in an interval.
type EndBucket struct {
	Bucket    string     `json:"bucket" enum:"ended,24h,7d,30d,90d,later,unknown"` // ended: before as_of; 24h, 7d, 30d, 90d: up to that long after it; later: after that; unknown: no end date is known
	From      *time.Time `json:"from"`                                             // start of the interval, inclusive; null if unbounded
	To        *time.Time `json:"to"`                                               // end of the interval, exclusive; null if unbounded
	Count     int64      `json:"count"`                                            // number of markets
	Volume24h data.Micro `json:"volume_24h"`                                       // USD traded in the last 24 hours
}
