package wire

import (
	"time"

	"pmx/data"
)

// ScreenerRow is one market in GET /screener and GET /markets/search. Windows end
// at as_of. The parameter fields of the screener leaves out what was not asked for; a search leaves nothing out.
type ScreenerRow struct {
	ConditionID      string      `json:"condition_id" optional:"true"`
	Question         *string     `json:"question" optional:"true"`
	Slug             *string     `json:"slug" optional:"true"`
	EventID          *string     `json:"event_id" optional:"true"`
	EventSlug        *string     `json:"event_slug" optional:"true"`
	EventTitle       *string     `json:"event_title" optional:"true"`
	Category         *string     `json:"category" optional:"true"`
	Tags             []string    `json:"tags" null:"true" optional:"true"`                        // tags of the market; null where no source gave any
	Status           string      `json:"status" enum:"open,closed,resolved" optional:"true"`      // whether the market is traded; resolved: its payouts are known
	NegRisk          *bool       `json:"neg_risk" optional:"true"`                                // whether at most one market of the event can win; null where no source said
	Outcomes         []string    `json:"outcomes" null:"true" optional:"true"`                    // labels in the order of payouts; null where they are not known
	Price            *data.Micro `json:"price" optional:"true"`                                   // what the first outcome traded at last, or its payout; null where neither is known
	PriceChange24h   *data.Micro `json:"price_change_24h" optional:"true"`                        // price less what it was 24 hours before as_of; null where there was none
	Spread           *data.Micro `json:"spread" optional:"true"`                                  // best ask less best bid as the source gave them last; null where it did not
	Liquidity        *data.Micro `json:"liquidity" optional:"true"`                               // USD in the book as the source gave it last; null where it did not
	Volume24h        data.Micro  `json:"volume_24h" optional:"true"`                              // USD traded in the last 24 hours
	Volume7d         data.Micro  `json:"volume_7d" optional:"true"`                               // USD traded in the last 168 hours
	Volume30d        data.Micro  `json:"volume_30d" optional:"true"`                              // USD traded in the last 720 hours
	Volume           data.Micro  `json:"volume" optional:"true"`                                  // USD traded since the first fill
	VolumeBasis      *string     `json:"volume_basis" enum:"taker_usd,maker_usd" optional:"true"` // which fills the volumes add up; null without a trade
	Traders24h       int64       `json:"traders_24h" optional:"true"`                             // distinct wallets of the last 24 hours
	Traders          int64       `json:"traders" optional:"true"`
	Trades           int64       `json:"trades" optional:"true"`         // fills behind volume: one per match
	WhaleFlow24h     data.Micro  `json:"whale_flow_24h" optional:"true"` // USD of whale moves of the last 24 hours towards the first outcome less those away from it; 0 without moves
	CreatedAt        *time.Time  `json:"created_at" optional:"true"`     // when the market was made; null where it is not known
	EndDate          *time.Time  `json:"end_date" optional:"true"`
	ResolvedAt       *time.Time  `json:"resolved_at" optional:"true"` // when the payouts were known; null where they are not, or the time is not
	ResolvedAtSource *string     `json:"resolved_at_source" enum:"end_date,closed_time,oracle,chain" optional:"true"`
	LastTradeAt      *time.Time  `json:"last_trade_at" optional:"true"`
}

// MarketHit is one market that GET /markets/search found.
type MarketHit struct {
	// how well it matches, best first: the words are those of the whole title, of
	// the title, some of them of event or slug, begin words of the title, some of
	// them of event or slug; the last two are the same with a typo in one word
	Match       string `json:"match" enum:"whole_title,title,exact,title_prefix,prefix,title_typo,typo"`
	ScreenerRow `whole:"true"`
}

// MarketHits is the reply of GET /markets/search.
type MarketHits struct {
	Envelope
	AsOf  *time.Time  `json:"as_of"` // null on an empty database
	Total int         `json:"total"` // markets that match, beyond those shown too
	Data  []MarketHit `json:"data"`
}

// ScreenerSummary adds up the markets that the filters of GET /screener keep.
type ScreenerSummary struct {
	Count            int64         `json:"count"`             // markets
	Volume24h        data.Micro    `json:"volume_24h"`        // USD traded in the last 24 hours
	Volume7d         data.Micro    `json:"volume_7d"`         // USD traded in the last 168 hours
	Volume30d        data.Micro    `json:"volume_30d"`        // USD traded in the last 720 hours
	Volume           data.Micro    `json:"volume"`            // USD traded since the first fill
	Liquidity        *data.Micro   `json:"liquidity"`         // USD in the books of the markets that tell theirs; null where none does
	LiquidityMarkets int64         `json:"liquidity_markets"` // how many tell theirs
	ByCategory       []Facet       `json:"by_category"`       // by count, ties by name
	ByStatus         []Facet       `json:"by_status"`         // all four of them
	TagCount         int           `json:"tag_count"`         // distinct tags
	ByTag            []Facet       `json:"by_tag"`            // the 50 tags of the most markets, ties by name; a market counts for each of its tags
	ByPrice          []PriceBucket `json:"by_price"`          // ten of equal width, and the markets without a price
	ByEndDate        []EndBucket   `json:"by_end_date"`       // counted from as_of
}

// Facet is the markets that share a name.
type Facet struct {
	Name      *string    `json:"name"`       // null: those without one
	Count     int64      `json:"count"`      // markets
	Volume24h data.Micro `json:"volume_24h"` // USD traded in the last 24 hours
}

// PriceBucket is the markets whose price lies in an interval.
type PriceBucket struct {
	From      *data.Micro `json:"from"`       // inclusive; null: markets without a price
	To        *data.Micro `json:"to"`         // exclusive but for 1; null: markets without a price
	Count     int64       `json:"count"`      // markets
	Volume24h data.Micro  `json:"volume_24h"` // USD traded in the last 24 hours
}

// EndBucket is the markets that end in an interval.
type EndBucket struct {
	Bucket    string     `json:"bucket" enum:"ended,24h,7d,30d,90d,later,unknown"` // ends before as_of, up to so long after it, later, or nobody said when
	From      *time.Time `json:"from"`                                             // inclusive; null: no bound
	To        *time.Time `json:"to"`                                               // exclusive; null: no bound
	Count     int64      `json:"count"`                                            // markets
	Volume24h data.Micro `json:"volume_24h"`                                       // USD traded in the last 24 hours
}
