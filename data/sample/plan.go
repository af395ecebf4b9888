package sample

import (
	"fmt"
	"sort"
	"strings"
	"time"
)

// tag is a Gamma tag.
type tag struct {
	ID    string `json:"id"`
	Label string `json:"label"`
	Slug  string `json:"slug"`
}

// Ids of the first events and markets, about as large as Gamma's.
const (
	firstEventID  = 610_000
	firstMarketID = 2_600_000
)

// planner makes the venue's events before the first fill.
type planner struct {
	cfg     Config
	r       rng
	normal  *normalTable
	start   time.Time
	hours   int
	slugs   map[string]bool
	events  []*event
	markets int
	games   int
}

// share is each category's share of the trading at any hour, in thousandths.
var share = [categories]uint64{
	sports: 300, politics: 150, crypto: 150, weather: 260, economy: 40, tech: 30, culture: 35, world: 35,
}

// plan returns the venue's events, numbered in the order in which they open.
func plan(cfg Config) ([]*event, error) {
	p := &planner{
		cfg: cfg, r: rng{state: word(cfg.Seed, streamPlan, 0, 0)}, normal: newNormalTable(),
		start: cfg.start(), hours: cfg.hours(), slugs: make(map[string]bool),
	}
	target := marketCount(cfg.Fills)
	p.lasting()
	for p.markets < target {
		p.listing()
	}
	if err := p.weatherDesk(); err != nil {
		return nil, fmt.Errorf("plan: %w", err)
	}
	sort.SliceStable(p.events, func(i, j int) bool { return p.events[i].openHour < p.events[j].openHour })
	n := 0
	for i, e := range p.events {
		e.id = firstEventID + i
		p.conclude(e, i)
		for leg, m := range e.markets {
			m.event, m.leg, m.id = e, leg, firstMarketID+n
			n++
		}
	}
	p.balance()
	return p.events, nil
}

// lasting adds the events that are open at the venue's end, whatever its size: two elections that
// are open from the first hour, so that there is always something to trade, and the next days of
// every coin.
func (p *planner) lasting() {
	for i := range 2 {
		e := p.election()
		e.openHour, e.closeHour = 0, p.hours+24*(40+35*i)
		p.add(e)
	}
	today := p.hours / 24 * 24
	for _, c := range coins {
		p.add(p.upOrDown(c, today-7, today+17))
		p.add(p.strikes(c, today-60, today+41))
	}
}

// listing adds one event of any kind except weather. If an event exists already, another one is
// drawn, up to a limit.
func (p *planner) listing() {
	e := p.draw()
	for tries := 0; tries < 8 && p.slugs[e.slug]; tries++ {
		e = p.draw()
	}
	p.add(e)
}

func (p *planner) draw() *event {
	switch v := p.r.below(100); {
	case v < 38:
		return p.game()
	case v < 46:
		return p.soccer()
	case v < 53:
		return p.strikes(p.noon(60))
	case v < 63:
		return p.upOrDown(p.noon(20))
	case v < 68:
		return p.election()
	case v < 76:
		return p.bill()
	case v < 80:
		return p.rates()
	case v < 86:
		return p.release()
	case v < 89:
		return p.race()
	case v < 94:
		return p.boxOffice()
	}
	return p.treaty()
}

// window draws a period of trading that lasts shortest to longest hours and begins before the
// venue's end. Late ones are more frequent, because the venue grows.
func (p *planner) window(shortest, longest int) (open, closing int) {
	length := shortest + p.r.below(longest-shortest+1)
	latest := p.hours + length - 12
	closing = 6 + p.r.below(latest)
	if p.r.chance(500) {
		closing = max(closing, 6+p.r.below(latest))
	}
	return max(0, closing-length), closing
}

// monthEnd returns the end of the hour's month.
func (p *planner) monthEnd(hour int) int {
	t := p.at(hour)
	next := time.Date(t.Year(), t.Month()+1, 1, 0, 0, 0, 0, time.UTC)
	return int(next.Sub(p.start).Hours())
}

func (p *planner) at(hour int) time.Time { return p.start.Add(time.Duration(hour) * time.Hour) }

// add adds an event with a unique slug: if the slug exists, a number is appended, as the venue
// does.
func (p *planner) add(e *event) {
	slug := e.slug
	for n := 101 + p.r.below(800); p.slugs[e.slug]; n++ {
		e.slug = fmt.Sprintf("%s-%d", slug, n)
	}
	p.slugs[e.slug] = true
	if e.end == 0 {
		e.end = p.at(e.closeHour).Unix()
	}
	size := uint64(1<<20) / uint64(400+p.r.below(1<<20))
	for _, m := range e.markets {
		m.slug = e.slug
		if len(e.markets) > 1 {
			m.slug = e.slug + "-" + slugOf(m.group)
		}
		p.weigh(m, 1+size)
	}
	p.events = append(p.events, e)
	p.markets += len(e.markets)
}

// weigh sets a market's share of the trading. Markets with an uncertain result have the largest.
func (p *planner) weigh(m *market, size uint64) {
	open := uint64(m.prior*(1_000_000-m.prior)/250_000) + 60_000
	if m.tick == 0 {
		m.tick = 10
		if m.prior < 60_000 || m.prior > 940_000 {
			m.tick = 1
		}
	}
	m.weight = size * open / 1000 * uint64(500+p.r.below(1000))
}

// slugOf returns text as part of a slug: "25 bps decrease" is "25-bps-decrease".
func slugOf(text string) string {
	var b strings.Builder
	gap := false
	for _, c := range strings.ToLower(text) {
		switch {
		case c >= 'a' && c <= 'z', c >= '0' && c <= '9':
			if gap && b.Len() > 0 {
				b.WriteByte('-')
			}
			gap = false
			b.WriteRune(c)
		case c == '.' || c == '\'':
		default:
			gap = true
		}
	}
	return b.String()
}

// everywhere is a bound that no goal reaches.
const everywhere = 4 * normalSpan

// decide computes bounds of the event's goal from the priors, and draws the goal. The markets of a
// NegRisk event have separate ranges, so at most one of them wins. Each market of other events pays
// if the goal is above its bound.
func (p *planner) decide(e *event) {
	from, lo := int64(0), -float64(everywhere)
	for _, m := range e.markets {
		if !e.negRisk {
			m.lo, m.hi = p.normal.inverse(1_000_000-m.prior), everywhere
			continue
		}
		from += m.prior
		m.lo, m.hi = lo, p.normal.inverse(from)
		lo = m.hi
	}
	p.settle(e)
}

// settle draws the goal, which determines the results.
func (p *planner) settle(e *event) {
	e.path.goal = p.normal.draw(&p.r)
	for _, m := range e.markets {
		m.result = second
		if m.lo < e.path.goal && e.path.goal <= m.hi {
			m.result = first
		}
	}
}

// conclude sets when an event closed and its stage at the venue's end. One event in 25 is paid out
// days late, and one in 70 remains disputed.
func (p *planner) conclude(e *event, number int) {
	lag := int64(1800 + p.r.below(5*3600))
	switch {
	case number%25 == 11:
		lag = int64(2*86400 + p.r.below(7*86400))
	case e.category == politics || e.category == world:
		lag += int64(p.r.below(20 * 3600))
	}
	over := p.at(e.closeHour).Unix()
	e.closedAt = p.cfg.onBlock(over + lag)
	e.positions = p.cfg.Chain && p.at(e.openHour).Unix() >= secondProtocol
	now := p.cfg.End.Unix()
	switch {
	case over >= now:
		e.stage = trading
	case number%70 == 33 && e.markets[0].result != split:
		e.stage, e.closedAt = disputed, min(over+3600, now)
	case e.closedAt < now:
		e.stage = resolved
	case number%2 == 0:
		e.stage, e.closedAt = proposed, over
	default:
		e.stage = ended
	}
}

// balance scales the weights so that every category has its share of the trading of the last 30
// days, or of those days on which it was open.
func (p *planner) balance() {
	var weight, rate [categories]float64
	begin := [categories]int{}
	for i := range begin {
		begin[i] = p.hours
	}
	recent := max(0, p.hours-30*24)
	for _, e := range p.events {
		begin[e.category] = min(begin[e.category], max(e.openHour, recent))
		life := float64(max(0, min(e.closeHour, p.hours)-max(e.openHour, recent)))
		for _, m := range e.markets {
			weight[e.category] += float64(float64(m.weight) * life)
		}
	}
	for c := range rate {
		rate[c] = 1
		if weight[c] > 0 {
			rate[c] = float64(share[c]) * 1e7 / (weight[c] / float64(p.hours-begin[c]))
		}
	}
	for _, e := range p.events {
		for _, m := range e.markets {
			m.weight = max(1, uint64(float64(m.weight)*rate[e.category]))
		}
	}
}
