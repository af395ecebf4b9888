package data

import (
	"errors"
	"fmt"
	"time"
)

// Date is a day of the calendar without a zone: days since 1970-01-01. A city's
// local day and a UTC day are both Dates.
type Date int32

// ErrDate is returned for text that is not a day of the calendar.
var ErrDate = errors.New("not a date as YYYY-MM-DD")

// ParseDate reads YYYY-MM-DD; a day that does not exist is ErrDate.
func ParseDate(s string) (Date, error) {
	t, err := time.Parse(time.DateOnly, s)
	if err != nil {
		return 0, fmt.Errorf("%q: %w", s, ErrDate)
	}
	return DateOf(t), nil
}

// DateOf returns the day of t in t's location.
func DateOf(t time.Time) Date {
	y, m, d := t.Date()
	return DateFrom(y, m, d)
}

// DateFrom returns the day of a year, month and day of the month, which are normalised as time.Date
// does.
func DateFrom(year int, month time.Month, day int) Date {
	return Date(time.Date(year, month, day, 0, 0, 0, 0, time.UTC).Unix() / 86_400)
}

// Time returns midnight UTC of d.
func (d Date) Time() time.Time { return time.Unix(int64(d)*86_400, 0).UTC() }

// String returns YYYY-MM-DD.
func (d Date) String() string { return d.Time().Format(time.DateOnly) }

// MonthDay returns month × 100 + day: 229 for 29 February.
func (d Date) MonthDay() int {
	_, m, day := d.Time().Date()
	return int(m)*100 + day
}
