package rollups

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"encoding/json"
	"errors"
	"fmt"
	"hash/fnv"
	"strconv"
	"time"

	"pmx/data"
	"pmx/data/reference"
	"pmx/engine"
	"pmx/rollups/weather"
)

// deskVersion changes when a listing may be parsed differently than before.
const deskVersion = "1"

// deskVertical keeps which markets are brackets of the weather desk's events, and
// what the desk serves.
func deskVertical() vertical {
	return vertical{
		after: func(m *merge) error {
			d := &desk{ctx: m.ctx, conn: m.conn, cities: m.cities}
			if m.sums != nil { // no market moves, and only payouts need to know which events changed
				if m.resolved == 0 {
					return nil
				}
				return d.exec("DeskNothing")
			}
			if m.described == 0 {
				return errors.Join(d.exec("DeskNothing"), d.exec("DeskMoveNone"))
			}
			return d.follow()
		},
		check:   deskCheck,
		section: func() section { return newDeskSection() },
	}
}

// desk reads listings into desk_market, for one call, whose context it
// keeps.
type desk struct {
	ctx    context.Context
	conn   *sql.Conn
	cities *data.Gazetteer // nil: the built-in one
	// changed is whether read found other listings than desk_market had.
	changed bool
}

func (d *desk) gazetteer() *data.Gazetteer {
	if d.cities == nil {
		return reference.Gazetteer()
	}
	return d.cities
}

func (d *desk) exec(name string, replace ...string) error {
	return execNamed(d.ctx, d.conn, name, replace...)
}

func (d *desk) count(name string) (n int64, err error) {
	err = d.conn.QueryRowContext(d.ctx, statements.Get(name)).Scan(&n)
	return n, err
}

// follow updates the desk with the markets of a batch. Afterwards n_desk_event lists the events
// that changed, and n_desk_move the markets that came or left.
func (d *desk) follow() error {
	if err := d.exec("DeskEvents", "@like", statements.Get("DeskLike")); err != nil {
		return err
	}
	return d.read()
}

// versions returns the versions that the desk was made with, and those that it would be made with
// now.
func (d *desk) versions() (was, now string, err error) {
	err = d.conn.QueryRowContext(d.ctx, statements.Get("DeskMadeBy")).Scan(&was)
	return was, deskVersionOf(d.gazetteer()), err
}

// deskVersionOf is the version that a desk of these cities is made with.
func deskVersionOf(g *data.Gazetteer) string {
	h := fnv.New64a()
	for _, c := range g.Cities() {
		_, _ = fmt.Fprintf(h, "%q %q %q %s %s %s\n", c.Slug, c.Title, c.Question, c.Station, c.Unit, c.Zone)
	}
	return deskVersion + "-" + strconv.FormatUint(h.Sum64(), 16)
}

// rebuild rebuilds the desk from every market.
func (d *desk) rebuild() error {
	if err := d.exec("DeskAllEvents", "@like", statements.Get("DeskLike")); err != nil {
		return err
	}
	if err := d.read(); err != nil {
		return err
	}
	if err := d.rebuildLeads(); err != nil {
		return err
	}
	_, now, err := d.versions()
	if err != nil {
		return err
	}
	if err := d.exec("DeskStale"); err != nil {
		return err
	}
	return d.exec("DeskMake", "@by", now)
}

// RefreshDesk rebuilds the weather desk, and the figures of its traders, if it was made with other
// cities or another grammar, or never; nil stands for the built-in cities. It reports whether it
// replaced an outdated desk.
func RefreshDesk(ctx context.Context, conn *sql.Conn, cities *data.Gazetteer) (bool, error) {
	d := &desk{ctx: ctx, conn: conn, cities: cities}
	was, now, err := d.versions()
	if err != nil || was == now {
		return false, err
	}
	return was != "", engine.InTx(ctx, conn, func() error {
		if err := d.rebuild(); err != nil {
			return err
		}
		if s, err := readProgress(ctx, conn); err != nil || s.stale {
			return err // a rebuild follows
		}
		return rebuildDeskWallets(ctx, conn)
	})
}

// read reads the listings of the events in n_desk_event, and keeps in it only those that changed:
// none, or all of them.
func (d *desk) read() error {
	if err := d.exec("DeskMoveNone"); err != nil {
		return err
	}
	events, err := d.count("DeskEventCount")
	if err != nil || events == 0 {
		return err
	}
	if err := d.exec("DeskEmpty"); err != nil {
		return err
	}
	rows, err := d.listings()
	if err != nil {
		return err
	}
	if err := engine.AppendTemp(d.conn, "n_desk", len(rows), func(i int) []driver.Value { return rows[i] }); err != nil {
		return err
	}
	changed, err := d.count("DeskUnchanged")
	if err != nil {
		return err
	}
	if changed == 0 {
		return d.exec("DeskNothing")
	}
	d.changed = true
	for _, name := range []string{"DeskMove", "DeskForget", "DeskTake"} {
		if err := d.exec(name); err != nil {
			return err
		}
	}
	return nil
}

// listings returns the rows of desk_market of all events in n_desk_event.
func (d *desk) listings() (rows [][]driver.Value, err error) {
	var name string
	var l weather.Listing
	var markets []int32
	flush := func() {
		if len(markets) > 0 {
			rows = append(rows, d.brackets(name, l, markets)...)
		}
		l, markets = weather.Listing{}, nil
	}
	err = engine.EachRow(d.ctx, d.conn, statements.Get("DeskListings"), func(row *listingRow) error {
		if row.Event != name {
			flush()
			name = row.Event
		}
		markets = append(markets, row.Market)
		return row.addTo(&l)
	})
	flush()
	return rows, err
}

// listingRow is a row of DeskListings: a market, and what it says of its event.
type listingRow struct {
	Event       string `sql:"event"`
	Market      int32  `sql:"market"`
	EventID     string `sql:"event_id"`
	Title       string `sql:"event_title"`
	EventSlug   string `sql:"event_slug"`
	Series      string `sql:"series_slug"`
	Tags        string `sql:"tags"` // JSON
	Question    string `sql:"question"`
	Label       string `sql:"group_item_title"`
	Slug        string `sql:"slug"`
	Resolution  string `sql:"resolution_source"`
	EndAt       int64  `sql:"end_at"`
	GameStartAt int64  `sql:"game_start_at"`
	Description string `sql:"description"`
}

// addTo adds the market to its event. If the markets of an event disagree about it, the last one
// that says anything counts.
func (row *listingRow) addTo(l *weather.Listing) error {
	for _, text := range []struct {
		dst  *string
		said string
	}{{&l.ID, row.EventID}, {&l.Title, row.Title}, {&l.Slug, row.EventSlug}, {&l.Series, row.Series}, {&l.Resolution, row.Resolution},
		{&l.Description, row.Description}} {
		if text.said != "" {
			*text.dst = text.said
		}
	}
	if row.Tags != "" {
		if err := json.Unmarshal([]byte(row.Tags), &l.Tags); err != nil {
			return fmt.Errorf("tags of %s: %w", l.Slug, err)
		}
	}
	l.Markets = append(l.Markets, weather.Outcome{Question: row.Question, Label: row.Label, Slug: row.Slug})
	if row.EndAt != 0 {
		l.End = time.UnixMicro(row.EndAt).UTC()
	}
	if row.GameStartAt != 0 {
		l.GameStart = time.UnixMicro(row.GameStartAt).UTC()
	}
	return nil
}

// brackets returns the rows of one event; none if it is not on the desk. An event whose brackets
// leave a gap, because some are not imported, is on it, too: its trades count.
func (d *desk) brackets(name string, l weather.Listing, markets []int32) (rows [][]driver.Value) {
	e, err := weather.Parse(d.gazetteer(), l)
	var gap *weather.LadderError
	if err != nil && !errors.As(err, &gap) {
		return nil
	}
	for i, b := range e.Brackets {
		var lo, hi driver.Value
		if !b.OpenLow {
			lo = int16(b.Lo)
		}
		if !b.OpenHigh {
			hi = int16(b.Hi)
		}
		rows = append(rows, []driver.Value{markets[i], name, e.ID, e.City.Slug, int8(e.Metric), int32(e.Day), lo, hi, string(e.Rules.Unit), gap == nil,
			e.Archived, e.Rules.Station, string(e.Rules.Source), string(e.Rules.Fallback), int8(e.Rules.Rounding), e.Rules.Revisable, e.Rules.Stated})
	}
	return rows
}

// deskCheck proves that the desk's brackets make sense.
func deskCheck(v *verifier) (Check, error) {
	c := Check{Name: "weather_desk"}
	if err := v.conn.QueryRowContext(v.ctx, statements.Get("DeskCheck")).Scan(&c.Rows, &c.Bad); err != nil {
		return c, err
	}
	c.OK = c.Bad == 0
	if !c.OK {
		c.Detail = "brackets of the weather desk do not make ladders: run pmx rebuild"
	}
	return c, nil
}
