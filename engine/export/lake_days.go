package export

import (
	"database/sql/driver"
	"fmt"
	"strconv"
	"strings"
	"time"

	"pmx/engine"
)

// lakeDay is a day of fills before it is written.
type lakeDay struct {
	day, rows, last int64
}

func (d lakeDay) date() string { return dateOf(d.day) }

// dateOf is the UTC date of a day since 1970.
func dateOf(day int64) string { return time.UnixMicro(day * dayMicros).UTC().Format(time.DateOnly) }

// printOfRows is how the print of a day with so many fills begins.
func (d lakeDay) printOfRows() string { return fmt.Sprintf("%d-%d-", LakeVersion, d.rows) }

// print reports whether the rows of a day are those of an earlier export. A fill never changes in place: it comes with the number of its
// import, which is greater than all before, and it goes when a better source replaces it. So a day that gained a fill has another last
// import, and one that only lost some has fewer.
func (d lakeDay) print() string { return d.printOfRows() + strconv.FormatInt(d.last, 10) }

// span is the replacement of @from and @to.
func (d lakeDay) span() []string { return lakeSpan(d.day, d.day+1) }

// lakeSpan is that of the days from one to another, which is not among them.
func lakeSpan(from, to int64) []string {
	return []string{"@from", strconv.FormatInt(from*dayMicros, 10), "@to", strconv.FormatInt(to*dayMicros, 10)}
}

// allDays returns the days there are. Where an earlier export of the same history is known, only those are read that gained fills since,
// that have another number of fills by the rollups, or of which no print is known.
func (w *lakeWriter) allDays(known LakeKnown) ([]lakeDay, error) {
	if known.Since == nil {
		return w.readDays("true")
	}
	days, err := w.countedDays()
	if err != nil {
		return nil, err
	}
	if len(days) == 0 { // or the rollups lack facts
		return w.readDays("true")
	}
	gained, err := w.gainedDays(*known.Since)
	if err != nil {
		return nil, err
	}
	asKnown := func(d *lakeDay) bool {
		text, ok := strings.CutPrefix(known.Prints[d.date()], d.printOfRows())
		last, err := strconv.ParseInt(text, 10, 64)
		d.last = last
		return ok && err == nil && !gained[d.day]
	}
	var all []lakeDay
	for len(days) > 0 {
		if asKnown(&days[0]) {
			all, days = append(all, days[0]), days[1:]
			continue
		}
		n := 1
		for n < len(days) && days[n].day == days[0].day+int64(n) && !asKnown(&days[n]) {
			n++
		}
		read, err := w.readDays(statements.Get("LakeSpan", lakeSpan(days[0].day, days[0].day+int64(n))...))
		if err != nil {
			return nil, err
		}
		all, days = append(all, read...), days[n:]
	}
	return all, nil
}

// readDays reads days from the facts for which a condition holds.
func (w *lakeWriter) readDays(which string) (days []lakeDay, err error) {
	err = engine.Each(w.ctx, w.conn, statements.Get("LakeDays", "@which", which), func(row []driver.Value) error {
		days = append(days, lakeDay{engine.Int(row[0]), engine.Int(row[1]), engine.Int(row[2])})
		return nil
	})
	return days, err
}

// countedDays gives the days there are with their fills by the rollups; none where these lack facts.
func (w *lakeWriter) countedDays() (days []lakeDay, err error) {
	err = engine.Each(w.ctx, w.conn, statements.Get("LakeCounts"), func(row []driver.Value) error {
		days = append(days, lakeDay{day: engine.Int(row[0]), rows: engine.Int(row[1])})
		return nil
	})
	return days, err
}

// gainedDays are the days that gained fills since an import.
func (w *lakeWriter) gainedDays(since int64) (map[int64]bool, error) {
	gained := map[int64]bool{}
	err := engine.Each(w.ctx, w.conn, statements.Get("LakeGained", "@since", strconv.FormatInt(since, 10)), func(row []driver.Value) error {
		gained[engine.Int(row[0])] = true
		return nil
	})
	return gained, err
}
