package rollups

import (
	"cmp"
	"context"
	"database/sql"
	"slices"
	"time"

	"pmx/data"
	"pmx/rollups/serving"
	"pmx/rollups/weather"
)

// publish works out the cities that changed.
func (p *deskSection) publish(ctx context.Context, conn *sql.Conn, l *Live, snap *serving.Snapshot) error {
	for _, id := range snap.Catalog.Changed() {
		p.noteMarket(snap.Catalog, id)
	}
	if live := p.stated > 0; live != p.anyStated { // it decides about cities without an event
		p.anyStated = live
		for slug := range p.cities {
			p.dirty[slug] = true
		}
	}
	if err := p.readWeather(ctx, conn, l); err != nil {
		return err
	}
	var all []*serving.DeskCity
	for _, c := range l.gazetteer().Cities() {
		of := p.cities[c.Slug]
		clock := p.now(l, c.Slug)
		switch {
		case p.dirty[c.Slug] || of.served.Today != today(c, clock):
			of.served = p.city(snap.Catalog, c, clock)
		case of.served.Clock != clock:
			later := *of.served
			later.Clock, of.served = clock, &later
		}
		all = append(all, of.served)
	}
	clear(p.dirty)
	d := serving.NewDesk(l.gazetteer(), all)
	if err := conn.QueryRowContext(ctx, statements.Get("DeskVolumeAsOf", "@from", itoa(l.shownBatch()))).Scan(&d.VolumeAsOf); err != nil {
		return err
	}
	if was := l.Snapshot(); was != nil { // a clock may have been set back since
		d.VolumeAsOf = max(d.VolumeAsOf, was.Desk.VolumeAsOf)
	}
	snap.Desk = d
	return nil
}

// now is the time as of which a city's weather and events are shown: the venue's. If nothing was
// ever traded, it is the time of the city's newest weather; 0 without any. A single feed cannot
// move the days of a venue that is traded.
func (p *deskSection) now(l *Live, slug string) int64 {
	if l.progress.asOf != 0 {
		return l.progress.asOf
	}
	return p.cities[slug].clock
}

// today is the city's day at a clock; 0 without one.
func today(c data.City, clock int64) data.Date {
	if clock == 0 {
		return 0
	}
	return c.DateOf(time.UnixMicro(clock))
}

// readWeather reads the weather of cities that a batch had weather of, or whose local day has
// changed.
func (p *deskSection) readWeather(ctx context.Context, conn *sql.Conn, l *Live) error {
	clock := func(slug string) int64 { return p.now(l, slug) }
	var again []data.City
	for _, c := range l.gazetteer().Cities() {
		if clock(c.Slug) == 0 {
			continue // nothing was ever imported
		}
		if of := p.cities[c.Slug]; p.weather[c.Slug] || of.weather == nil || of.weather.Today != today(c, clock(c.Slug)) {
			again = append(again, c)
		}
	}
	clear(p.weather)
	if len(again) == 0 {
		return nil
	}
	read, err := LoadCityWeather(ctx, conn, again, clock)
	if err != nil {
		return err
	}
	for _, c := range again {
		p.cities[c.Slug].weather = read[c.Slug]
		p.dirty[c.Slug] = true
	}
	return nil
}

// noteMarket notes what a changed market adds to its city.
func (p *deskSection) noteMarket(c *serving.Catalog, id int32) {
	m := p.markets[id]
	if m == nil {
		return
	}
	city := p.cities[m.event.City]
	p.dirty[m.event.City] = true
	city.lifetime += c.Figures(id).VolumeUSD - m.lifetime
	m.lifetime = c.Figures(id).VolumeUSD
	listed := c.Market(id)
	if stated := listed.Active != nil && listed.Closed != nil; stated != m.stated {
		m.stated = stated
		by := 1
		if !stated {
			by = -1
		}
		city.stated += by
		p.stated += by
	}
}

// city works out one city.
func (p *deskSection) city(c *serving.Catalog, place data.City, clock int64) *serving.DeskCity {
	of, today := p.cities[place.Slug], today(place, clock)
	first, _ := slices.BinarySearchFunc(of.events, today, func(e *serving.DeskEvent, d data.Date) int { return cmp.Compare(e.Day, d) })
	out := &serving.DeskCity{City: place, Clock: clock, Today: today, Events: of.events, Weather: of.weather}
	out.Volumes.Lifetime = of.lifetime
	out.Live = of.stated > 0 || len(of.events) == 0 && p.stated > 0
	for _, e := range of.events[first:] {
		open := 0
		for _, b := range e.Brackets {
			if bracketOpen(c.Market(b.Market), e.Day, today) {
				open++
			}
		}
		if open > 0 {
			out.OpenBrackets += open
			out.OpenEvents++
			out.Open = append(out.Open, e)
		}
	}
	for id, m := range of.recent {
		for _, d := range m.days {
			_, usd, _ := d.by(c.Figures(id).Basis())
			out.Volumes.Week += usd
			if d.day == p.today {
				out.Volumes.Day += usd
			}
		}
	}
	return out
}

// bracketOpen reports whether a bracket can be traded: its market is open, no source said that it
// is not active, and its day is not over.
func bracketOpen(m *serving.Market, day, today data.Date) bool {
	return weather.Open(day, today, m.Active == nil || *m.Active, m.Status() != serving.Open)
}
