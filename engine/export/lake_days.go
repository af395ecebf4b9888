package export

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"pmx/engine"
)

// lakeDay is a day of fills before it is written.
type lakeDay struct {
	dayCount
	Last int64 `sql:"last"` // the last import that a fill is from; 0: not read
}

// dayCount is a day, days since 1970, and the number of its fills.
type dayCount struct {
	Day   int64 `sql:"day"`
	Fills int64 `sql:"fills"`
}

func (d lakeDay) date() string { return dateOf(d.Day) }

// dateOf returns the UTC date of a day, days since 1970.
func dateOf(day int64) string { return time.UnixMicro(day * dayMicros).UTC().Format(time.DateOnly) }

// printOfRows is the beginning of the print, which has the number of fills.
func (d lakeDay) printOfRows() string { return fmt.Sprintf("%d-%d-", LakeVersion, d.Fills) }

// print identifies the rows of a day. A fill never changes in place: it is added with the number of
// its import, which is greater than all before, and removed when a better source replaces it. So a
// day with additional fills has a different last import, and one that only lost fills has fewer.
func (d lakeDay) print() string { return d.printOfRows() + strconv.FormatInt(d.Last, 10) }

// span returns the replacements of @from and @to.
func (d lakeDay) span() []string { return lakeSpan(d.Day, d.Day+1) }

// lakeSpan returns the replacements for the days from, included, to to, excluded.
func lakeSpan(from, to int64) []string {
	return []string{"@from", strconv.FormatInt(from*dayMicros, 10), "@to", strconv.FormatInt(to*dayMicros, 10)}
}

// allDays returns all days. If an earlier export with the same history is known, it reads only days
// that gained fills since, whose number of fills differs by the rollups, or without a known print.
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
		d.Last = last
		return ok && err == nil && !gained[d.Day]
	}
	var all []lakeDay
	for len(days) > 0 {
		if asKnown(&days[0]) {
			all, days = append(all, days[0]), days[1:]
			continue
		}
		n := 1
		for n < len(days) && days[n].Day == days[0].Day+int64(n) && !asKnown(&days[n]) {
			n++
		}
		read, err := w.readDays(statements.Get("LakeSpan", lakeSpan(days[0].Day, days[0].Day+int64(n))...))
		if err != nil {
			return nil, err
		}
		all, days = append(all, read...), days[n:]
	}
	return all, nil
}

// readDays reads the days that meet a condition from the facts.
func (w *lakeWriter) readDays(which string) (days []lakeDay, err error) {
	err = engine.EachRow(w.ctx, w.conn, statements.Get("LakeDays", "@which", which), func(row *lakeDay) error {
		days = append(days, *row)
		return nil
	})
	return days, err
}

// countedDays returns all days with their numbers of fills by the rollups; none if the rollups lack
// facts.
func (w *lakeWriter) countedDays() (days []lakeDay, err error) {
	err = engine.EachRow(w.ctx, w.conn, statements.Get("LakeCounts"), func(row *dayCount) error {
		days = append(days, lakeDay{dayCount: *row})
		return nil
	})
	return days, err
}

// gainedDays returns the days that gained fills since an import.
func (w *lakeWriter) gainedDays(since int64) (map[int64]bool, error) {
	gained := map[int64]bool{}
	err := engine.EachValue(w.ctx, w.conn, statements.Get("LakeGained", "@since", strconv.FormatInt(since, 10)), func(day int64) error {
		gained[day] = true
		return nil
	})
	return gained, err
}
