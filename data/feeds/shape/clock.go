package shape

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
)

// ErrTime is returned for text that is not a time in a known format.
var ErrTime = errors.New("not a unix time, an RFC 3339 time or a date")

// layouts are tried in order. Text without a zone is taken as UTC, because the sources that omit
// the zone write UTC.
var layouts = []string{
	time.RFC3339Nano,
	"2006-01-02 15:04:05.999999999Z07:00",
	"2006-01-02 15:04:05.999999999Z07",
	"2006-01-02 15:04:05.999999999 Z07:00",
	"2006-01-02T15:04:05.999999999Z07",
	"2006-01-02T15:04:05.999999999",
	"2006-01-02 15:04:05.999999999",
	"2006-01-02 15:04:05.999999999 UTC",
	"2006-01-02T15:04Z07:00",
	"2006-01-02 15:04",
	"2006-01-02",
	"January 2, 2006",
}

// ParseTime parses unix time as a number, whose size determines the unit (below 1e11 seconds, below
// 1e14 milliseconds, below 1e17 microseconds, else nanoseconds), or a time as text in the formats
// that sources use. The error is ErrTime for anything else, including "".
func ParseTime(s string) (time.Time, error) {
	s = strings.TrimSpace(s)
	if t, ok := parseUnix(s); ok {
		return t, nil
	}
	for _, layout := range layouts {
		if !mayHave(s, layout) {
			continue
		}
		if t, err := time.Parse(layout, s); err == nil {
			return t.UTC(), nil
		}
	}
	return time.Time{}, fmt.Errorf("%q: %w", clip(s, 40), ErrTime)
}

// mayHave is false if s cannot have a layout, which time.Parse takes longer to find out: most layouts
// have a date, of ten bytes, and something after it.
func mayHave(s, layout string) bool {
	switch {
	case layout[0] != '2':
		return len(s) == 0 || s[0] > '9'
	case len(s) <= 10 || len(layout) == 10:
		return len(s) == len(layout)
	}
	return s[10] == layout[10]
}

func parseUnix(s string) (time.Time, bool) {
	digits, _, broken := strings.Cut(s, ".")
	if len(digits) <= 5 || strings.Trim(s, "0123456789.") != "" {
		return time.Time{}, false // a year or a count, not a time
	}
	if n, err := strconv.ParseInt(s, 10, 64); err == nil {
		return time.UnixMicro(UnixMicro(n)).UTC(), true
	}
	f, err := strconv.ParseFloat(s, 64)
	if !broken || err != nil || f >= 1e18 {
		return time.Time{}, false
	}
	scale := 1e6
	for _, limit := range []float64{1e11, 1e14, 1e17} {
		if f < limit {
			break
		}
		scale /= 1000
	}
	return time.UnixMicro(int64(math.Round(f * scale))).UTC(), true
}

// UnixMicro returns n in microseconds. Its unit follows from its size, as in ParseTime.
func UnixMicro(n int64) int64 {
	switch {
	case n < 1e11:
		return n * 1e6
	case n < 1e14:
		return n * 1e3
	case n < 1e17:
		return n
	default:
		return n / 1e3
	}
}

// Limits of the times of fills, unix µs. The venue began in 2020, and a time after 2035 has a wrong
// unit.
const (
	FirstMicro = 1577836800_000000
	LastMicro  = 2082758400_000000 - 1
)

// FillTime parses the time of a fill like ParseTime. It must be within 2020 to 2035. The error is a
// *RowError.
func FillTime(s string) (int64, error) {
	t, err := ParseTime(s)
	if err != nil {
		return 0, Bad("bad_time", "the time %q cannot be read", clip(s, 40))
	}
	if us := t.UnixMicro(); us >= FirstMicro && us <= LastMicro {
		return us, nil
	}
	return 0, Bad("bad_time", "the time %q is outside 2020 to 2035", clip(s, 40))
}

func clip(s string, n int) string {
	if len(s) <= n {
		return s
	}
	return strings.ToValidUTF8(s[:n], "") + "…"
}
