package rollups

import (
	"cmp"
	"context"
	"database/sql"
	"fmt"
	"slices"
	"strconv"

	"pmx/data"
	"pmx/engine"
	"pmx/rollups/serving"
	"pmx/rollups/weather"
)

// deskDays is how many UTC days a city's week has.
const deskDays = 7

// deskSection is the section of the snapshot behind /weather: the events of every city and their
// trades, by UTC day as far back as it is served.
type deskSection struct {
	cities    map[string]*deskCity
	events    map[string]*serving.DeskEvent
	markets   map[int32]*deskMarket
	today     int32           // UTC day of as_of
	stated    int             // brackets whose state a source reported
	anyStated bool            // there were any when the desk was published last
	dirty     map[string]bool // cities to work out again
	weather   map[string]bool // cities whose weather is to be read again
	added     []int32         `image:"-"` // markets that touch is to note
}

// deskCity is a city as it was published last, and what the next one is made from.
type deskCity struct {
	served   *serving.DeskCity
	weather  *serving.CityWeather
	events   []*serving.DeskEvent // in order
	lifetime data.Micro
	recent   map[int32]*deskMarket // traded in the last days
	clock    int64                 // newest forecast or observation of the city, unix µs
	stated   int
}

// deskMarket is a bracket and what it adds to its city.
type deskMarket struct {
	event    *serving.DeskEvent
	lifetime data.Micro
	days     []deskDay // of the last week, in no order
	stated   bool
}

// deskDay is what was traded of a bracket on one UTC day.
type deskDay struct {
	day int32
	legs
}

// on returns what was traded on a day, to be added to.
func (m *deskMarket) on(day int32) *legs {
	i := slices.IndexFunc(m.days, func(d deskDay) bool { return d.day == day })
	if i < 0 {
		i = len(m.days)
		m.days = append(m.days, deskDay{day: day})
	}
	return &m.days[i].legs
}

func newDeskSection() *deskSection { return &deskSection{} }

func (p *deskSection) follow(ctx context.Context, conn *sql.Conn, l *Live, from func(table) string, whole bool) error {
	err := p.read(ctx, conn, l, from, whole)
	p.touch(l)
	return err
}

func (p *deskSection) followAhead(ctx context.Context, conn *sql.Conn, l *Live) error {
	if err := p.read(ctx, conn, l, table.baseAndDelta, true); err != nil {
		return err
	}
	return p.readWeather(ctx, conn, l)
}

func (p *deskSection) touch(l *Live) {
	for _, market := range p.added {
		l.catalog.Touch(market)
	}
	p.added = nil
}

// read is follow, except that the catalog does not know of it before touch.
func (p *deskSection) read(ctx context.Context, conn *sql.Conn, l *Live, from func(table) string, whole bool) error {
	s := l.next
	which, issue, obs := "event IN (SELECT event FROM n_desk_event)", "n_issue", "n_obs"
	if whole {
		*p = deskSection{cities: map[string]*deskCity{}, events: map[string]*serving.DeskEvent{}, markets: map[int32]*deskMarket{},
			dirty: map[string]bool{}, weather: map[string]bool{}}
		for _, c := range l.gazetteer().Cities() {
			p.cities[c.Slug] = &deskCity{recent: map[int32]*deskMarket{}}
			p.dirty[c.Slug], p.weather[c.Slug] = true, true
		}
		which, issue, obs = "true", "weather_issue", "weather_obs"
	}
	moved := int64(0)
	if !whole && l.kinds.has("weather", "payouts", "markets") { // events change with their markets
		err := engine.EachValue(ctx, conn, statements.Get("DeskWeather"), func(city string) error {
			p.weather[city] = true
			return nil
		})
		if err != nil {
			return err
		}
	}
	if !whole && l.kinds.has("mappings", "markets") {
		if err := conn.QueryRowContext(ctx, statements.Get("DeskMoved")).Scan(&moved); err != nil {
			return err
		}
	}
	if whole || moved > 0 {
		if err := p.load(ctx, conn, which, whole); err != nil {
			return err
		}
	}
	if err := p.followDays(ctx, conn, l, from, whole || moved > 0, int32(s.asOf/dayLength)); err != nil {
		return err
	}
	if !whole && !l.kinds.has("weather") {
		return nil
	}
	return engine.EachRow(ctx, conn, statements.Get("DeskClocks", "@issue", issue, "@obs", obs), func(row *cityClock) error {
		if c := p.cities[row.City]; c != nil {
			c.clock = max(c.clock, row.TS)
		}
		return nil
	})
}

// cityClock is a row of DeskClocks.
type cityClock struct {
	City string `sql:"city"`
	TS   int64  `sql:"ts"`
}

// load reads events: all, or those that a batch changed.
func (p *deskSection) load(ctx context.Context, conn *sql.Conn, which string, whole bool) error {
	if !whole {
		err := engine.EachValue(ctx, conn, statements.Get("DeskChangedEvents"), func(event string) error {
			p.drop(event)
			return nil
		})
		if err != nil {
			return err
		}
	}
	if whole {
		sorted, err := p.loadSorted(ctx, conn)
		if sorted || err != nil {
			return err
		}
		p.forget()
	}
	return p.addRows(ctx, conn, statements.Get("DeskLoad", "@which", which))
}

// loadSorted is load of all events, unless an event has brackets with equal bounds, which the database has to sort: then
// it returns false.
func (p *deskSection) loadSorted(ctx context.Context, conn *sql.Conn) (bool, error) {
	if err := p.addRows(ctx, conn, statements.Get("DeskRows")); err != nil {
		return false, err
	}
	for _, e := range p.events {
		slices.SortFunc(e.Brackets, compareBounds)
		for i := range len(e.Brackets) - 1 {
			if compareBounds(e.Brackets[i], e.Brackets[i+1]) == 0 {
				return false, nil
			}
		}
	}
	return true, nil
}

// compareBounds is the order of DeskLoad within an event: open lower ends come first, open upper ends last.
func compareBounds(a, b serving.DeskBracket) int {
	if a.OpenLow != b.OpenLow {
		if a.OpenLow {
			return -1
		}
		return 1
	}
	if c := cmp.Compare(a.Lo, b.Lo); c != 0 {
		return c
	}
	if a.OpenHigh != b.OpenHigh {
		if b.OpenHigh {
			return -1
		}
		return 1
	}
	return cmp.Compare(a.Hi, b.Hi)
}

// forget drops all events, of which nothing but their brackets was read.
func (p *deskSection) forget() {
	clear(p.events)
	clear(p.markets)
	p.added = nil
	for _, c := range p.cities {
		c.events = nil
	}
}

// addRows adds the events of a query.
func (p *deskSection) addRows(ctx context.Context, conn *sql.Conn, query string) error {
	touched := map[string]bool{}
	err := engine.EachRow(ctx, conn, query, func(row *bracketRow) error { return p.add(row, touched) })
	for city := range touched {
		c := p.cities[city]
		c.events = slices.SortedFunc(slices.Values(c.events), (*serving.DeskEvent).Compare)
	}
	return err
}

// drop removes an event from the desk.
func (p *deskSection) drop(key string) {
	e := p.events[key]
	if e == nil {
		return
	}
	delete(p.events, key)
	c := p.cities[e.City]
	c.events = slices.DeleteFunc(slices.Clone(c.events), func(o *serving.DeskEvent) bool { return o == e })
	if len(c.events) == 0 {
		c.events = nil // as a city that never had one
	}
	p.dirty[e.City] = true
	for _, b := range e.Brackets {
		m := p.markets[b.Market]
		if m.stated {
			p.stated--
			c.stated--
		}
		c.lifetime -= m.lifetime
		delete(p.markets, b.Market)
		delete(c.recent, b.Market)
	}
}

// bracketRow is a row of DeskLoad or DeskRows: a bracket, and the rules of its event.
type bracketRow struct {
	Market    int32            `sql:"market"`
	Event     string           `sql:"event"`
	EventID   string           `sql:"event_id"`
	City      string           `sql:"city"`
	Metric    data.Metric      `sql:"metric"`
	Day       data.Date        `sql:"day"`
	Lo        *int             `sql:"lo"`
	Hi        *int             `sql:"hi"`
	Unit      string           `sql:"unit"`
	Tiled     bool             `sql:"tiled"`
	Archived  bool             `sql:"archived"`
	Station   string           `sql:"station"`
	Source    weather.Source   `sql:"source"`
	Fallback  weather.Source   `sql:"fallback"`
	Rounding  weather.Rounding `sql:"rounding"`
	Revisable bool             `sql:"revisable"`
	Stated    bool             `sql:"stated"`
}

// bracket returns the bounds; nil is open.
func bracket(lo, hi *int, unit data.Unit) weather.Bracket {
	b := weather.Bracket{OpenLow: lo == nil, OpenHigh: hi == nil, Unit: unit}
	if lo != nil {
		b.Lo = *lo
	}
	if hi != nil {
		b.Hi = *hi
	}
	return b
}

// add takes a row of DeskLoad or DeskRows. All rows of an event say the same of it. Events of a city that is no longer in the
// table are left out.
func (p *deskSection) add(row *bracketRow, touched map[string]bool) error {
	c := p.cities[row.City]
	if c == nil {
		return nil
	}
	e := p.events[row.Event]
	if e == nil {
		unit, ok := data.ParseUnit(row.Unit)
		if !ok {
			return fmt.Errorf("event %s: unit %q", row.Event, row.Unit)
		}
		e = &serving.DeskEvent{Key: row.Event, ID: row.EventID, City: row.City, Metric: row.Metric, Day: row.Day, Tiled: row.Tiled, Archived: row.Archived,
			Rules: weather.Rules{Unit: unit, Station: row.Station, Source: row.Source, Fallback: row.Fallback, Rounding: row.Rounding,
				Revisable: row.Revisable, Stated: row.Stated}}
		p.events[row.Event] = e
		c.events = append(slices.Clip(c.events), e)
		touched[row.City], p.dirty[row.City] = true, true
	}
	e.Brackets = append(e.Brackets, serving.DeskBracket{Market: row.Market, Bracket: bracket(row.Lo, row.Hi, e.Rules.Unit)})
	p.markets[row.Market] = &deskMarket{event: e}
	p.added = append(p.added, row.Market)
	return nil
}

// followDays adds what was traded on the days of a city's week.
func (p *deskSection) followDays(ctx context.Context, conn *sql.Conn, l *Live, from func(table) string, whole bool, today int32) error {
	if today != p.today {
		p.today = today
		for slug, c := range p.cities {
			p.dirty[slug] = true
			for id, m := range c.recent {
				m.days = slices.DeleteFunc(m.days, func(d deskDay) bool { return d.day <= today-deskDays })
				if len(m.days) == 0 {
					delete(c.recent, id)
				}
			}
		}
	}
	rows, query := from(tableNamed("token_day")), "BatchDeskDays"
	if whole {
		query = "DeskDays"
		var err error
		if rows, err = tableNamed("token_day").current(ctx, conn); err != nil {
			return err
		}
		for _, c := range p.cities {
			for _, m := range c.recent {
				m.days = nil
			}
			clear(c.recent)
		}
	}
	since := strconv.Itoa(int(today) - deskDays + 1)
	read := eachRow[tokenDayRow]
	if !whole {
		read = func(query string, add func(row *tokenDayRow)) step {
			return eachAdded(l, func(b *batchSums) []tokenDayRow { return b.tokenDaysSince(today - deskDays + 1) }, query, add)
		}
	}
	return read(statements.Get(query, "@rows", rows, "@since", since), func(row *tokenDayRow) {
		market := l.tokens[row.Token].market
		if m := p.markets[market]; m != nil {
			m.on(row.Day).plus(&row.legs)
			p.cities[m.event.City].recent[market] = m
			p.dirty[m.event.City] = true
		}
	})(ctx, conn)
}

// tokenDayRow is a row of token_day.
type tokenDayRow struct {
	Day   int32        `sql:"day"`
	Token data.TokenID `sql:"token"`
	legs
}
