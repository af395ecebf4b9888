package shape

import (
	"math"
	"regexp"
	"time"

	"pmx/data"
)

// stampInName matches the time that scripts put into the names of saved files.
var stampInName = regexp.MustCompile(`(\d{4}-\d{2}-\d{2})T(\d{2})[-:]?(\d{2})[-:]?(\d{2})Z`)

// Stamp returns the time in the name of a file with a response as it was fetched, unix µs; 0 if the
// name has none.
func Stamp(name string) int64 {
	p := stampInName.FindStringSubmatch(name)
	if p == nil {
		return 0
	}
	at, err := time.Parse(time.RFC3339, p[1]+"T"+p[2]+":"+p[3]+":"+p[4]+"Z")
	if err != nil {
		return 0
	}
	return at.UnixMicro()
}

// StandardShift returns how many seconds after the city's day a day of standard time begins: an
// hour in summer if the city has daylight saving time.
func StandardShift(c data.City, d data.Date) int32 {
	standard, _ := c.StandardDay(d)
	own, _ := c.Day(d)
	return int32(standard.Sub(own) / time.Second)
}

// Whole parses an optional whole number: 0 if it is missing. The error, a *RowError, names the
// column.
func (t Text) Whole(column string) (int32, error) {
	s := t.Trim()
	if s == "" {
		return 0, nil
	}
	n, err := data.ParseWhole(s)
	if err != nil || n > math.MaxInt32 {
		return 0, Bad("bad_number", "the %s %q is not a whole number", column, clip(s, 20))
	}
	return int32(n), nil
}

// Unit parses a temperature scale. The error is a *RowError.
func (t Text) Unit() (data.Unit, error) {
	u, ok := data.ParseUnit(t.Trim())
	if !ok {
		return 0, Bad("bad_unit", "the unit %q is neither °C nor °F", clip(string(t), 20))
	}
	return u, nil
}

// Temp parses a temperature of scale u; false if the source has no value. The error is a *RowError.
func (t Text) Temp(u data.Unit) (v data.Temp, ok bool, err error) {
	s := t.Trim()
	if s == "" {
		return 0, false, nil
	}
	if v, err = data.ParseTemp(s, u); err != nil {
		return 0, false, Bad("bad_temperature", "%q is not a temperature between -100 and 70 °C", clip(s, 20))
	}
	return v, true, nil
}

// TempPtr is Temp with nil for no value.
func (t Text) TempPtr(u data.Unit) (*data.Temp, error) {
	v, ok, err := t.Temp(u)
	if !ok {
		return nil, err
	}
	return &v, nil
}

// DifferencePtr parses a difference between temperatures in degrees of u; nil for no value. The
// error is a *RowError.
func (t Text) DifferencePtr(u data.Unit) (*data.Temp, error) {
	v, err := t.TempPtr(u)
	if v != nil {
		*v -= data.Degrees(0, u)
	}
	return v, err
}

// Date parses YYYY-MM-DD. The error is a *RowError.
func (t Text) Date() (data.Date, error) {
	d, err := data.ParseDate(t.Trim())
	if err != nil {
		return 0, Bad("bad_date", "%q is not a day as YYYY-MM-DD", clip(string(t), 20))
	}
	return d, nil
}

// Micros parses a time; the result is in unix µs, 0 if there is none. The error is a *RowError.
func (t Text) Micros() (int64, error) {
	s := t.Trim()
	if s == "" {
		return 0, nil
	}
	at, err := ParseTime(s)
	if err != nil {
		return 0, Bad("bad_time", "the time %q cannot be read", clip(s, 40))
	}
	return at.UnixMicro(), nil
}
