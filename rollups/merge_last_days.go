package rollups

import (
	"cmp"
	"context"
	"database/sql"
	"database/sql/driver"
	"fmt"
	"slices"
	"strconv"

	"pmx/engine"
)

// lastTradeDays knows on which UTC day every wallet and every mapped market traded last. It saves a
// merge from reading the days of a whole month: a wallet that trades on a later day than ever
// before has traded in that month if and only if its last day lies in it. It is derived from the
// database and may be dropped and loaded at any time.
type lastTradeDays struct {
	wallets, markets lastDays
	loaded           bool
}

// lastDays are the last days of wallets or of markets, by id.
type lastDays struct {
	days    []int32
	pending []idDay // of a merge that is not committed yet
}

// idDay says that a wallet or market traded on a day.
type idDay struct {
	id, day int32
	exact   bool // day is the last one, even where a later one was known
}

// idDayRow is an idDay as it is read.
type idDayRow struct {
	ID  int32 `sql:"id"`
	Day int32 `sql:"day"`
}

func (r *idDayRow) idDay() idDay { return idDay{id: r.ID, day: r.Day} }

// at is the last day of id, noDay where it never traded.
func (l *lastDays) at(id int32) int32 {
	if int(id) >= len(l.days) {
		return noDay
	}
	return l.days[id]
}

func (l *lastDays) set(id, day int32) {
	for int(id) >= len(l.days) {
		l.days = append(l.days, noDay)
	}
	l.days[id] = day
}

func (l *lastDays) commit() {
	for _, p := range l.pending {
		if p.exact || p.day > l.at(p.id) {
			l.set(p.id, p.day)
		}
	}
	l.pending = nil
}

func (r *lastTradeDays) commit() {
	r.wallets.commit()
	r.markets.commit()
}

// rollback drops what a rolled-back merge found.
func (r *lastTradeDays) rollback() { r.wallets.pending, r.markets.pending = nil, nil }

func (r *lastTradeDays) load(ctx context.Context, conn *sql.Conn) error {
	*r = lastTradeDays{}
	for name, list := range map[string]*lastDays{"LastDaysOfWallets": &r.wallets, "LastDaysOfMarkets": &r.markets} {
		err := engine.EachRow(ctx, conn, statements.Get(name), func(row *idDayRow) error {
			list.set(row.ID, row.Day)
			return nil
		})
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	r.loaded = true
	return nil
}

// split reads rows of idDayRow and separates those that the last days decide from those with a day
// before the id's last one, which the database must decide. Both are ordered by id, then day.
func (l *lastDays) split(ctx context.Context, conn *sql.Conn, query string) (later, late []idDay, err error) {
	var all []idDay
	err = engine.EachRow(ctx, conn, query, func(row *idDayRow) error {
		all = append(all, row.idDay())
		return nil
	})
	if err != nil {
		return nil, nil, err
	}
	later, late = l.take(all)
	return later, late, nil
}

// take is split of days that are known.
func (l *lastDays) take(all []idDay) (later, late []idDay) {
	slices.SortFunc(all, func(x, y idDay) int { return cmp.Or(cmp.Compare(x.id, y.id), cmp.Compare(x.day, y.day)) })
	l.pending = append(l.pending, all...)
	for from := 0; from < len(all); {
		to := from + 1
		for to < len(all) && all[to].id == all[from].id {
			to++
		}
		if all[from].day < l.at(all[from].id) {
			late = append(late, all[from:to]...)
		} else {
			later = append(later, all[from:to]...)
		}
		from = to
	}
	return later, late
}

// eachWithPrevious calls f for every day of later, as split gives it, with the day that its
// id traded on before, noDay for none.
func (l *lastDays) eachWithPrevious(later []idDay, f func(d idDay, before int32)) {
	for i, d := range later {
		before := l.at(d.id)
		if i > 0 && later[i-1].id == d.id {
			before = later[i-1].day
		}
		f(d, before)
	}
}

// fillDayTable makes a temporary table of days and ids.
func fillDayTable(ctx context.Context, conn *sql.Conn, table string, days []idDay) error {
	if _, err := conn.ExecContext(ctx, statements.Get("DaysEmpty", "@into", table)); err != nil {
		return fmt.Errorf("%s: %w", table, err)
	}
	if len(days) == 0 {
		return nil
	}
	return engine.AppendTemp(conn, table, len(days), func(i int) []driver.Value { return []driver.Value{days[i].day, days[i].id} })
}

// newDays leaves in d_day the days on which a wallet trades for the first time, and
// notes days before that of as_of.
func (m *merge) newDays() (err error) {
	if m.sums != nil {
		m.sums.findDays(m.lastDays)
		return nil
	}
	if m.fills == 0 {
		return nil
	}
	first, last := m.oldest/dayLength, m.newest/dayLength
	fresh, known, err := m.daysInMemory()
	switch {
	case err != nil:
		return err
	case known:
		err = m.keepDays(fresh)
	default:
		m.days, err = m.keep("d_day", statements.Get("NewDays", "@firstday", strconv.FormatInt(first, 10), "@lastday", strconv.FormatInt(last, 10)))
	}
	if err != nil || first >= m.from/dayLength {
		return err
	}
	return m.exec("NoteLateDays", "@from", strconv.FormatInt(m.from, 10))
}

// fewFills is the largest number of fills that are looked at one by one: for more, the database is
// faster.
const fewFills = 20_000

// daysInMemory returns the days and wallets of newDays by the last days in memory: a wallet that
// trades on a later day than ever trades on it for the first time. known is false if a wallet
// trades on a day before its last one, which the database must decide, or if nothing is in memory.
func (m *merge) daysInMemory() (fresh []idDay, known bool, err error) {
	if !m.lastDays.loaded || m.fills > fewFills {
		return nil, false, nil
	}
	known = true
	err = engine.EachRow(m.ctx, m.conn, statements.Get("BatchDays"), func(row *idDayRow) error {
		d := row.idDay()
		last := m.lastDays.wallets.at(d.id)
		if d.day > last {
			fresh = append(fresh, d)
		}
		known = known && d.day >= last
		return nil
	})
	if err != nil {
		return nil, false, fmt.Errorf("BatchDays: %w", err)
	}
	return fresh, known, nil
}

// keepDays leaves days and wallets in d_day.
func (m *merge) keepDays(days []idDay) error {
	m.days = int64(len(days))
	if _, err := m.keep("d_day", statements.Get("NewDaysNone")); err != nil {
		return err
	}
	return engine.AppendTemp(m.conn, "d_day", len(days), func(i int) []driver.Value { return []driver.Value{days[i].day, days[i].id} })
}
