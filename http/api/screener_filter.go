package api

import (
	"fmt"
	"math"
	"slices"
	"strconv"

	"pmx/rollups/serving"
	"pmx/rollups/serving/screen"
	"pmx/rollups/serving/search"
)

// The parameters that GET /screener and GET /screener/summary share.
var (
	screenQ          = queryParam(false)
	screenCategory   = categoryParam()
	screenNoCategory = &Param{Name: "exclude_category", Kind: Text, Min: 1, Max: 100, Many: filterNames,
		Doc: "exclude markets of this category; may be repeated" + categoryDoc}
	screenTag     = &Param{Name: "tag", Kind: Text, Min: 1, Max: 100, Many: filterNames, Doc: "markets with this tag; if repeated, with any of them"}
	screenNoTag   = &Param{Name: "exclude_tag", Kind: Text, Min: 1, Max: 100, Many: filterNames, Doc: "exclude markets with this tag; may be repeated"}
	screenStatus  = statusParam()
	screenEvent   = &Param{Name: "event_id", Kind: Text, Min: 1, Max: 300, Doc: "markets of this event, given by its id or slug"}
	screenNegRisk = &Param{Name: "neg_risk", Kind: Choice, Choices: yesNo(), Doc: "true: markets of events in which at most " +
		"one market can win; false: other markets; a market for which this is unknown matches neither"}
	screenResolved      = &Param{Name: "has_resolution", Kind: Choice, Choices: yesNo(), Doc: "true: markets whose payouts are known; false: all others"}
	screenEndsAfter     = &Param{Name: "ends_after", Kind: Moment, Doc: "markets that end at this time or later"}
	screenEndsBefore    = &Param{Name: "ends_before", Kind: Moment, Doc: "markets that end before this time"}
	screenCreatedAfter  = &Param{Name: "created_after", Kind: Moment, Doc: "markets created at this time or later"}
	screenCreatedBefore = &Param{Name: "created_before", Kind: Moment, Doc: "markets created before this time"}
	screenRanges        = rangeParams()
)

func yesNo() []string { return []string{"true", "false"} }

// figures is how many of the screener's fields have a minimum and a maximum as
// parameters: those before the times.
const figures = int(screen.CreatedAt)

// figure is the name of a field, and how it is written.
type figure struct {
	name  string
	least int64 // minimum that a parameter may have
	most  int64
	count bool // a whole number
	time  bool
	about string
}

// maxUSD is a trillion dollars.
const maxUSD = 1_000_000_000_000_000_000

// figureOf describes a field.
func figureOf(f screen.Field) figure {
	return [screen.Fields]figure{
		screen.Volume24h:      {name: "volume_24h", most: maxUSD, about: "USD traded in the last 24 hours"},
		screen.Volume7d:       {name: "volume_7d", most: maxUSD, about: "USD traded in the last 168 hours"},
		screen.Volume30d:      {name: "volume_30d", most: maxUSD, about: "USD traded in the last 720 hours"},
		screen.Volume:         {name: "volume", most: maxUSD, about: "USD traded since the first fill"},
		screen.Liquidity:      {name: "liquidity", most: maxUSD, about: "liquidity in USD"},
		screen.Traders24h:     {name: "traders_24h", most: math.MaxInt32, count: true, about: "distinct wallets that traded in the last 24 hours"},
		screen.Traders:        {name: "traders", most: math.MaxInt32, count: true, about: "number of distinct wallets"},
		screen.Trades:         {name: "trades", most: 1_000_000_000_000, count: true, about: "fills"},
		screen.Price:          {name: "price", most: 1_000_000, about: "price of the first outcome"},
		screen.PriceChange24h: {name: "price_change_24h", least: -1_000_000, most: 1_000_000, about: "change of the price over 24 hours"},
		screen.WhaleFlow24h:   {name: "whale_flow_24h", least: -maxUSD, most: maxUSD, about: "USD of whale moves of the last 24 hours towards the first outcome, minus those away from it"},
		screen.Spread:         {name: "spread", least: -1_000_000, most: 1_000_000, about: "best ask minus best bid"},
		screen.CreatedAt:      {name: "created_at", time: true},
		screen.EndDate:        {name: "end_date", time: true},
		screen.ResolvedAt:     {name: "resolved_at", time: true},
		screen.LastTradeAt:    {name: "last_trade_at", time: true},
	}[f]
}

// filterNames is how often a filter by name may be repeated.
const filterNames = 20

func queryParam(required bool) *Param {
	return &Param{Name: "q", Kind: Text, Min: 1, Max: 100, Required: required, Doc: "words, or beginnings of words, in the title, " +
		"the event's title or their slugs, in any order; all of them must match, and there must be at least one letter or digit"}
}

func statusParam() *Param {
	var states []string
	for _, s := range serving.Statuses {
		states = append(states, string(s))
	}
	return &Param{Name: "status", Kind: Choice, Choices: states, Many: len(states), Doc: "markets with this status; if repeated, or separated by commas, with any of them"}
}

// rangeParams are the minimum and the maximum of every figure.
func rangeParams() (all [figures]struct{ least, most *Param }) {
	for i := range all {
		f := figureOf(screen.Field(i))
		kind := Decimal
		if f.count {
			kind = Integer
		}
		all[i].least = &Param{Name: "min_" + f.name, Kind: kind, Min: f.least, Max: f.most, Doc: f.about + ", at least"}
		all[i].most = &Param{Name: "max_" + f.name, Kind: kind, Min: f.least, Max: f.most, Doc: f.about + ", at most"}
	}
	return all
}

// filterParams are the filters of the screener.
func filterParams() []*Param {
	params := []*Param{screenQ, screenCategory, screenNoCategory, screenTag, screenNoTag, screenStatus, screenEvent, screenNegRisk, screenResolved,
		screenEndsAfter, screenEndsBefore, screenCreatedAfter, screenCreatedBefore}
	for _, r := range screenRanges {
		params = append(params, r.least, r.most)
	}
	return params
}

// screening is a filter while it is applied.
type screening struct {
	screen.Filter
	matches *search.Matches // of q; nil: there is no q
}

// release returns what the filter borrowed.
func (s *screening) release() {
	if s.matches != nil {
		s.matches.Release()
	}
}

// screening parses the filters of call for the markets of w. The caller releases it.
func (call *Call) screening(w *marketEpoch) (*screening, *problem) {
	s := &screening{}
	words, bad := call.words(screenQ)
	if bad == nil {
		bad = call.ranges(&s.Filter)
	}
	if bad == nil {
		s.Class, bad = call.classes(w)
	}
	if bad != nil {
		return nil, bad
	}
	s.Tags, s.NoTags = call.texts(screenTag), call.texts(screenNoTag)
	if event := call.value(screenEvent); event.given {
		s.Within = append(s.Within, eventSet(w.catalog, event.text))
	}
	if words != nil && w.screener != nil {
		s.matches = w.screener.Titles.Find(words)
		s.Within = append(s.Within, screen.Set(s.matches.All()))
	}
	return s, nil
}

// words are the words of a query; nil if it is not given.
func (call *Call) words(p *Param) ([]string, *problem) {
	v := call.value(p)
	if !v.given {
		return nil, nil
	}
	words := search.Words(v.text)
	if words == nil {
		return nil, invalid("q", "q must contain at least one letter or digit: words of a title, or beginnings of words.")
	}
	return words, nil
}

// eventSet is the markets of an event.
func eventSet(c *serving.Catalog, key string) screen.Set {
	set := make(screen.Set, (c.Len()+63)/64)
	if e := c.Event(key); e != nil {
		for _, id := range e.Markets {
			set[id>>6] |= 1 << (id & 63)
		}
	}
	return set
}

// ranges adds the ranges of figures and times in call.
func (call *Call) ranges(f *screen.Filter) *problem {
	for i, p := range screenRanges {
		low, high := call.value(p.least), call.value(p.most)
		if !low.given && !high.given {
			continue
		}
		r := screen.Range{Field: screen.Field(i), Least: screen.Null + 1, Most: math.MaxInt64}
		if low.given {
			r.Least = low.n
		}
		if high.given {
			r.Most = high.n
		}
		if r.Least > r.Most {
			name := figureOf(r.Field).name
			return invalid("max_"+name, fmt.Sprintf("max_%s must not be less than min_%s.", name, name))
		}
		f.Ranges = append(f.Ranges, r)
	}
	for _, t := range []struct {
		field         screen.Field
		after, before *Param
		name          string
	}{{screen.EndDate, screenEndsAfter, screenEndsBefore, "ends"}, {screen.CreatedAt, screenCreatedAfter, screenCreatedBefore, "created"}} {
		after, before := call.value(t.after), call.value(t.before)
		if !after.given && !before.given {
			continue
		}
		r := screen.Range{Field: t.field, Least: screen.Null + 1, Most: math.MaxInt64}
		if after.given {
			r.Least = after.n
		}
		if before.given {
			r.Most = before.n - 1
		}
		if r.Least > r.Most {
			return invalid(t.name+"_before", fmt.Sprintf("%s_before must be later than %s_after.", t.name, t.name))
		}
		f.Ranges = append(f.Ranges, r)
	}
	return nil
}

// classes is the filter's condition on a market's class; nil: none.
func (call *Call) classes(w *marketEpoch) (func(*screen.Class) bool, *problem) {
	categories, bad := call.categories(screenCategory, w)
	if bad != nil {
		return nil, bad
	}
	noCategories, bad := call.categories(screenNoCategory, w)
	if bad != nil {
		return nil, bad
	}
	states, negRisk, resolved := call.choices(screenStatus), call.value(screenNegRisk), call.value(screenResolved)
	if categories == nil && noCategories == nil && states == nil && !negRisk.given && !resolved.given {
		return nil, nil
	}
	return func(c *screen.Class) bool {
		switch {
		case categories != nil && !slices.Contains(categories, c.Category), slices.Contains(noCategories, c.Category),
			states != nil && !slices.Contains(states, c.Status),
			negRisk.given && (c.NegRisk == nil || strconv.FormatBool(*c.NegRisk) != [2]string{"true", "false"}[negRisk.n]),
			resolved.given && (c.Status == string(serving.Resolved)) != (resolved.n == 0):
			return false
		}
		return true
	}, nil
}
