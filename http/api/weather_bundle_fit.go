package api

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"sync"

	"pmx/data"
	"pmx/http/wire"
	"pmx/rollups/serving"
)

// maxBundleBytes is the maximum size of a bundle in bytes, including its envelope.
const maxBundleBytes = 200_000

// maxEnvelopeBytes is more than an envelope, as_of and the text before the rows take if nothing is
// left out.
const maxEnvelopeBytes = 1_000

// What is left out of the bundle's events if they would not fit otherwise: nothing, the forecasts
// of single sources, or those and the trading figures. If that is still too long, events are left
// out.
const (
	bundleWhole = iota
	bundleWithoutSources
	bundleWithoutTrades
	bundleLevels
)

// reasonTooLarge is why a member was left out.
const reasonTooLarge = "bundle_size"

// maxNamedCities is how many cities a bundle names whose events are left out.
const maxNamedCities = 200

// leftOutHint says how to ask for what a bundle leaves out.
const leftOutHint = "Ask for part of the desk, by cities or date: what fits comes whole."

// bundleEvent is an event of the bundle. It must not be copied.
type bundleEvent struct {
	event   *serving.DeskEvent
	row     wire.BundleEvent
	encoded [2][bundleLevels]struct {
		once sync.Once
		text []byte
	} // without and with the ids of its brackets; each made when it is requested
}

func (e *bundleEvent) passes(call *Call, cat *serving.Catalog) bool {
	date, least := call.value(bundleDate), call.value(bundleMinVolume)
	return call.value(bundleMetric).asks(e.event.Metric) && (!date.given || data.Date(date.n) == e.event.Day) &&
		(!least.given || int64(e.event.Volume(cat)) >= least.n)
}

// json returns the event as JSON, without what a level leaves out.
func (e *bundleEvent) json(level int, ids bool, cat *serving.Catalog) []byte {
	with := 0
	if ids {
		with = 1
	}
	t := &e.encoded[with][level]
	t.once.Do(func() { t.text = marshal(e.atLevel(level, ids, cat)) })
	return t.text
}

func (e *bundleEvent) atLevel(level int, ids bool, cat *serving.Catalog) wire.BundleEvent {
	row := e.row
	if level > bundleWhole {
		row.NullReasons = maps.Clone(e.row.NullReasons)
		row.Forecast, row.NullReasons["forecast"] = nil, reasonTooLarge
	}
	if level == bundleWithoutTrades {
		row.Brackets.Last, row.Brackets.Vol = nil, nil
		row.NullReasons["last"], row.NullReasons["vol"] = reasonTooLarge, reasonTooLarge
	}
	if ids {
		for _, bracket := range e.event.Brackets {
			row.Brackets.ConditionID = append(row.Brackets.ConditionID, cat.Market(bracket.Market).Condition.String())
			row.Brackets.YesToken = append(row.Brackets.YesToken, textOrNull(yesToken(cat, bracket.Market)))
		}
	}
	return row
}

// cityEvents are the events of one city that a call requests, in order.
type cityEvents struct {
	slug   string
	head   []byte
	events []*bundleEvent
}

// selectEvents returns the events that a call requests, by city; traded reports whether there ever
// was an event.
func (v *encodedSnapshot) selectEvents(call *Call, cities map[string]bool) (picked []cityEvents, traded bool) {
	for _, c := range v.deskCities() {
		traded = traded || len(c.Events) > 0
		if len(c.Open) == 0 || cities != nil && !cities[c.City.Slug] {
			continue
		}
		o := v.desk.city(c.City.Slug)
		o.bundleOnce.Do(func() { o.bundle = v.bundleOf(c) })
		p := cityEvents{slug: c.City.Slug, head: o.bundle.head}
		for i := range o.bundle.events {
			if e := &o.bundle.events[i]; e.passes(call, v.snap.Catalog) {
				p.events = append(p.events, e)
			}
		}
		if len(p.events) > 0 {
			picked = append(picked, p)
		}
	}
	return picked, traded
}

// bundle writes what follows as_of: the events that pass the call's filters, by city, as complete
// as fits.
func (v *encodedSnapshot) bundle(call *Call, cities map[string]bool) []byte {
	f := bundleFit{cat: v.snap.Catalog, ids: call.value(bundleInclude).given}
	picked, traded := v.selectEvents(call, cities)
	rows := f.rows(picked)
	reason := ""
	switch {
	case len(rows) > 0:
	case f.left != nil:
		reason = reasonTooLarge
	case !traded:
		reason = "no_events"
	case v.snap.Desk.Idle():
		reason = "no_open_events"
	default:
		reason = "no_match"
	}
	return append(append(append(bundleHead(reason, f.left), `,"data":[`...), rows...), ']')
}

func bundleHead(reason string, left *wire.BundleLeftOut) []byte {
	b := appendText(fmt.Appendf(nil, `,"schema_version":%d,"empty_reason":`, bundleVersion), reason)
	return append(append(b, `,"left_out":`...), marshal(left)...)
}

// bundleFit makes the events of a bundle fit into its size.
type bundleFit struct {
	cat   *serving.Catalog
	ids   bool
	level int
	left  *wire.BundleLeftOut // nil: nothing is left out
}

// rows writes events by city, at the first level at which all fit, else as many as fit.
func (f *bundleFit) rows(picked []cityEvents) []byte {
	room, size := maxBundleBytes-maxEnvelopeBytes, f.size(picked)
	if size > room {
		f.left = &wire.BundleLeftOut{Cities: []string{}, Hint: leftOutHint}
		room -= len(bundleHead(reasonTooLarge, f.longestLeftOut(picked)))
		for f.level = bundleWithoutSources; f.level < bundleLevels; f.level++ {
			if size = f.size(picked); size <= room {
				break
			}
		}
		f.level = min(f.level, bundleWithoutTrades)
	}
	if size > room {
		picked = f.keepNearest(picked, room)
	}
	b := make([]byte, 0, min(size, room))
	for i := range picked {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(b, picked[i].head...)
		for k, e := range picked[i].events {
			if k > 0 {
				b = append(b, ',')
			}
			b = append(b, e.json(f.level, f.ids, f.cat)...)
			f.countLeftOut()
		}
		b = append(b, "]}"...)
	}
	return b
}

// countLeftOut counts what was left out of events that are included.
func (f *bundleFit) countLeftOut() {
	if f.level >= bundleWithoutSources {
		f.left.Forecast++
	}
	if f.level >= bundleWithoutTrades {
		f.left.Trades++
	}
}

// longestLeftOut is the longest possible note on what is left out.
func (f *bundleFit) longestLeftOut(picked []cityEvents) *wire.BundleLeftOut {
	const wide = 1_000_000_000
	day := data.Date(0).String()
	left := &wire.BundleLeftOut{Forecast: wide, Trades: wide, Events: wide, Brackets: wide, FromDate: &day, Cities: []string{}, Hint: leftOutHint}
	for i := range picked[:min(len(picked), maxNamedCities)] {
		left.Cities = append(left.Cities, picked[i].slug)
	}
	return left
}

// size is how many bytes the rows take at the level, with a comma after each.
func (f *bundleFit) size(picked []cityEvents) (n int) {
	for i := range picked {
		n += len(picked[i].head) + len("]},")
		for _, e := range picked[i].events {
			n += len(e.json(f.level, f.ids, f.cat)) + len(",")
		}
	}
	return n
}

// keepNearest keeps the events that fit, those of the nearest days first, within a day those that
// were traded most, then by slug; from the first one that does not fit on, all are left out.
func (f *bundleFit) keepNearest(picked []cityEvents, room int) (kept []cityEvents) {
	type place struct {
		city   int
		volume data.Micro
		*bundleEvent
	}
	var order []place
	for i := range picked {
		for _, e := range picked[i].events {
			order = append(order, place{i, e.event.Volume(f.cat), e})
		}
	}
	slices.SortFunc(order, func(x, y place) int {
		return cmp.Or(cmp.Compare(x.event.Day, y.event.Day), cmp.Compare(y.volume, x.volume), cmp.Compare(x.event.Key, y.event.Key))
	})
	fits, begun, n := map[*bundleEvent]bool{}, make([]bool, len(picked)), 0
	for ; n < len(order); n++ {
		p := &order[n]
		room -= len(p.json(f.level, f.ids, f.cat)) + len(",")
		if !begun[p.city] {
			room -= len(picked[p.city].head) + len("]},")
		}
		if room < 0 {
			break
		}
		fits[p.bundleEvent], begun[p.city] = true, true
	}
	for _, p := range order[n:] {
		f.left.Events++
		f.left.Brackets += len(p.event.Brackets)
	}
	f.left.FromDate = textOrNull(order[n].event.Day.String())
	for _, p := range picked {
		here := slices.DeleteFunc(slices.Clone(p.events), func(e *bundleEvent) bool { return !fits[e] })
		if len(here) < len(p.events) && len(f.left.Cities) < maxNamedCities {
			f.left.Cities = append(f.left.Cities, p.slug)
		}
		if len(here) > 0 {
			kept = append(kept, cityEvents{slug: p.slug, head: p.head, events: here})
		}
	}
	return kept
}
