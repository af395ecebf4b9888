package sample

import (
	"bytes"
	"encoding/json"
	"fmt"
	"sort"

	"pmx/data"
)

// Quote is the last price and the volume of a market at some time.
type Quote struct {
	Last   int64 // price of the first outcome, thousandths; 0: no trade yet
	At     int64 // of the last trade, unix seconds
	Volume data.Micro
}

// Phase is the stage of a market between listing and payout.
type Phase int

// Phases.
const (
	Unlisted Phase = iota
	Open           // it is traded
	Ended          // no longer traded, and not closed
	Closed         // closed, its result proposed or disputed
	PaidOut        // closed and resolved
)

// Listed returns how many events and markets are listed at a time, unix seconds. Events and markets
// are numbered in the order in which they are listed.
func (v *Venue) Listed(at int64) (events, markets int) {
	start := v.cfg.start().Unix()
	events = sort.Search(len(v.events), func(i int) bool { return start+int64(v.events[i].openHour)*3600 > at })
	markets = sort.Search(len(v.Markets), func(i int) bool { return v.Markets[i].Event >= events })
	return events, markets
}

// EventMarkets returns the first market of an event and the one after its last.
func (v *Venue) EventMarkets(event int) (from, to int) {
	from = v.events[event].markets[0].id - firstMarketID
	return from, from + len(v.events[event].markets)
}

// stageAt returns the event's stage at a time.
func (e *event) stageAt(at, over, end int64) stage {
	switch {
	case at >= end || e.stage == trading:
		return e.stage
	case at < over:
		return trading
	case at < e.closedAt:
		return ended
	}
	return e.stage
}

// Phase returns the phase of the event at a time, unix seconds.
func (v *Venue) Phase(event int, at int64) Phase {
	e := v.events[event]
	start := v.cfg.start().Unix()
	if at < start+int64(e.openHour)*3600 {
		return Unlisted
	}
	switch e.stageAt(at, start+int64(e.closeHour)*3600, v.cfg.End.Unix()) {
	case trading:
		return Open
	case ended:
		return Ended
	case proposed, disputed:
		return Closed
	}
	return PaidOut
}

// as returns the event as it was at a time. From the end of the venue on it is the same as in the
// venue's files; before that, quotes are derived from the last trade.
func (v *Venue) as(place int, at int64, quote func(market int) Quote) *event {
	e := *v.events[place]
	over := v.cfg.start().Unix() + int64(e.closeHour)*3600
	e.stage = e.stageAt(at, over, v.cfg.End.Unix())
	past := at >= v.cfg.End.Unix()
	if !past {
		e.updated = 1 // before any event: it is moved to where the event was created
	}
	markets := make([]*market, len(e.markets))
	for i, m := range e.markets {
		own := *m
		own.event, own.holders, own.tokens = &e, nil, [2]string{}
		if !past {
			q := quote(m.id - firstMarketID)
			own.last, own.lastTrade, own.volume = q.Last, q.At, q.Volume
			own.shown = q.Last
			if q.Last == 0 {
				own.shown = onTick(m.prior/1000, m.tick)
			}
			e.updated = max(e.updated, q.At)
		}
		markets[i] = &own
	}
	switch {
	case past:
	case e.stage >= proposed:
		e.updated = min(at, e.closedAt+900)
	case e.stage == ended:
		e.updated = max(e.updated, over)
	}
	if _, last := v.cfg.seconds(v.events[place]); !past && v.events[place].stage != resolved {
		e.updated = min(e.updated, last-1) // the files are newer
	}
	e.markets = markets
	return &e
}

// Event returns a listed event as Gamma shows it at a time, unix seconds.
func (v *Venue) Event(place int, at int64, quote func(market int) Quote) ([]byte, error) {
	g, err := v.cfg.gammaEvent(v.as(place, at, quote), v.table)
	if err != nil {
		return nil, fmt.Errorf("event %d: %w", place, err)
	}
	return plainJSON(g)
}

// listedMarket is a market of Gamma's /markets.
type listedMarket struct {
	gammaMarket
	Events []gammaEvent `json:"events"`
	Tags   []tag        `json:"tags,omitempty"`
}

// Market returns a listed market as Gamma's /markets shows it, with its event and, if tags is true,
// its tags.
func (v *Venue) Market(number int, at int64, tags bool, quote func(market int) Quote) ([]byte, error) {
	m := &v.Markets[number]
	e := v.as(m.Event, at, quote)
	g, err := v.cfg.gammaEvent(e, v.table)
	if err != nil {
		return nil, fmt.Errorf("market %d: %w", number, err)
	}
	out := listedMarket{Events: []gammaEvent{g}}
	id := fmt.Sprint(firstMarketID + number)
	for _, one := range g.Markets {
		if one.ID == id {
			out.gammaMarket = one
		}
	}
	if tags {
		out.Tags = g.Tags
	}
	out.Events[0].Markets, out.Events[0].Tags = nil, nil
	return plainJSON(out)
}

// plainJSON writes v without escaping HTML characters and without a trailing line break.
func plainJSON(v any) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimRight(b.Bytes(), "\n"), nil
}

// Label has the names of a market and its event.
type Label struct {
	ID, Question, Slug, Group, Description string
	Outcomes                               [2]string
	Tick                                   int64  // thousandths
	End                                    string // RFC 3339
	EventID, EventSlug, EventTitle         string
	NegRiskID                              string // "" if the event has none
	Tags                                   []string
}

// Label returns the names of a market and its event.
func (v *Venue) Label(number int) Label {
	e := v.events[v.Markets[number].Event]
	m := e.markets[number+firstMarketID-e.markets[0].id]
	out := Label{ID: fmt.Sprint(m.id), Question: m.question, Slug: m.slug, Group: m.group, Description: e.description, Outcomes: m.outcomes, Tick: m.tick,
		End: stamp(e.end), EventID: fmt.Sprint(e.id), EventSlug: e.slug, EventTitle: e.title}
	if e.negRisk {
		out.NegRiskID = e.negRiskID(v.cfg.Seed).String()
	}
	for _, t := range e.tags {
		out.Tags = append(out.Tags, t.Label)
	}
	return out
}

// Numbers returns the ids of the first event and the first market; the others follow in order.
func (v *Venue) Numbers() (event, market int) { return firstEventID, firstMarketID }

// Follow updates the quote of a market with a match.
func (v *Venue) Follow(q *Quote, m *Match) {
	q.At = m.At
	for _, l := range v.legs[m.legs : m.legs+int32(m.count)] {
		q.Volume += data.Micro(usd(l.shares, int64(l.price)))
		q.Last = int64(l.price)
	}
	if m.second {
		q.Last = 1000 - q.Last
	}
}
