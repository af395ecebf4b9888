package weather

import (
	"regexp"
	"strconv"
	"strings"
	"time"

	"pmx/data"
)

// Title is what the title or slug of an event says: "Highest temperature in NYC on
// July 2?".
type Title struct {
	Metric data.Metric
	Place  string // as written: "NYC", "new-york-city"
	Month  time.Month
	Day    int
	Year   int // 0 if left out
	// Archived marks a slug with the prefix "arch-": an event that was listed again
	// under its old slug. Never set for titles.
	Archived bool
	// Suffix is the number at the end of a slug if the plain slug was taken, "" without.
	Suffix string
}

var (
	titleForm = regexp.MustCompile(`(?i)^\s*(highest|lowest) temperature in (.+?) on ([a-z]+)\.? (\d{1,2})(?:st|nd|rd|th)?(?:,? (\d{4}))?\s*\??\s*$`)
	slugForm  = regexp.MustCompile(`^(arch-)?(highest|lowest)-temperature-in-([a-z-]+?)-on-([a-z]+)-(\d{1,2})(?:-(\d{4}))?(?:-(\d{1,3}))?$`)
)

// ParseTitle reads an event's title; false for any title that is not one city's
// highest or lowest temperature of one day.
func ParseTitle(s string) (Title, bool) {
	m := titleForm.FindStringSubmatch(s)
	if m == nil {
		return Title{}, false
	}
	return finish(Title{Metric: metricOf(m[1]), Place: m[2]}, m[3], m[4], m[5])
}

// ParseSlug reads an event's slug. A suffix of two or three digits is not a year: it only
// distinguishes the slug from an older one.
func ParseSlug(s string) (Title, bool) {
	m := slugForm.FindStringSubmatch(s)
	if m == nil {
		return Title{}, false
	}
	t := Title{Metric: metricOf(m[2]), Place: m[3], Archived: m[1] != "", Suffix: m[7]}
	return finish(t, m[4], m[5], m[6])
}

func metricOf(word string) data.Metric {
	if strings.EqualFold(word, "lowest") {
		return data.TMin
	}
	return data.TMax
}

// finish reads the date; false if there is no such day in any year, or in the year that is named.
func finish(t Title, month, day, year string) (Title, bool) {
	var ok bool
	if t.Month, ok = parseMonth(month); !ok {
		return Title{}, false
	}
	t.Day, _ = strconv.Atoi(day)
	t.Year, _ = strconv.Atoi(year)
	if _, ok := t.in(orLeap(t.Year)); !ok {
		return Title{}, false
	}
	return t, true
}

// orLeap returns a leap year for an unknown one, in which every day exists.
func orLeap(year int) int {
	if year == 0 {
		return 2000
	}
	return year
}

// in returns the day in a year; false if that year has none.
func (t Title) in(year int) (data.Date, bool) {
	d := data.DateFrom(year, t.Month, t.Day)
	_, month, day := d.Time().Date()
	return d, month == t.Month && day == t.Day
}

// parseMonth reads a month's English name or its first three or four letters.
func parseMonth(s string) (time.Month, bool) {
	s = strings.ToLower(s)
	for m := time.January; m <= time.December; m++ {
		name := strings.ToLower(m.String())
		if s == name || len(s) >= 3 && len(s) <= 4 && strings.HasPrefix(name, s) {
			return m, true
		}
	}
	return 0, false
}

// dateSlack is by how many days an event's end may differ from the day in its title. The end is
// nominal, 12:00 UTC of the day, but the first events ended at their local midnight.
const dateSlack = 1

// Date returns the day that t means, confirmed by near, the UTC day of the event's nominal end. A
// title without a year means the year that is nearest. False if the two are more than a day apart,
// or if neither has a year.
func (t Title) Date(near data.Date, known bool) (data.Date, bool) {
	if !known {
		if t.Year == 0 {
			return 0, false
		}
		return t.in(t.Year)
	}
	best, found := data.Date(0), false
	for y := near.Time().Year() - 1; y <= near.Time().Year()+1; y++ {
		d, ok := t.in(y)
		if ok && (t.Year == 0 || t.Year == y) && (!found || abs(d-near) < abs(best-near)) {
			best, found = d, true
		}
	}
	return best, found && abs(best-near) <= dateSlack
}

func abs(d data.Date) data.Date { return max(d, -d) }
