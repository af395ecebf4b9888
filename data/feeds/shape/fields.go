package shape

import (
	"time"

	"pmx/data"
)

// Fields parses optional fields of a record. A field that is present but cannot be parsed does not
// count as missing: Err, a *RowError, has the first of these.
type Fields struct{ Err error }

func (f *Fields) bad(reason, field string, t Text, what string) {
	if f.Err == nil {
		f.Err = Bad(reason, "the %s %q %s", field, clip(t.Trim(), 40), what)
	}
}

// Time returns the time of t; the zero time if t is empty.
func (f *Fields) Time(field string, t Text) time.Time {
	if t.Trim() == "" {
		return time.Time{}
	}
	at, err := ParseTime(t.Trim())
	if err != nil {
		f.bad("bad_time", field, t, "cannot be read")
		return time.Time{}
	}
	return at
}

// Version returns the time that decides which of two records is newer; the zero time if t is empty.
// It must not be before 1970.
func (f *Fields) Version(field string, t Text) time.Time {
	at := f.Time(field, t)
	if at.UnixMicro() <= 0 && !at.IsZero() {
		f.bad("bad_time", field, t, "is before 1970")
	}
	return at
}

// Flag returns true or false; nil if t is empty.
func (f *Fields) Flag(field string, t Text) *bool {
	flag := t.Bool()
	if flag == nil && t.Trim() != "" {
		f.bad("bad_flag", field, t, "is neither true nor false")
	}
	return flag
}

// Amount returns the amount; nil if t is empty.
func (f *Fields) Amount(field string, t Text) *data.Micro {
	m, ok := t.Micro()
	if !ok {
		if t.Trim() != "" {
			f.bad("bad_amount", field, t, "is not a number that can be held in millionths")
		}
		return nil
	}
	return &m
}
