// Package sample invents a prediction-market venue: traders, events, markets
// and every fill between them, in the file shapes the real venue's data comes
// in. The same Config gives the same bytes on every machine (as long as the
// clocks of the weather cities go by the same rules), so the venue can serve as
// the bundled first-run data, as the subject of benchmarks of any size, and as a
// test whose sums are known beforehand. All money adds up exactly: in every
// market the tokens of both outcomes are equal in number, and the profits of all
// wallets in a resolved market come to zero.
package sample

import (
	"errors"
	"fmt"
	"math"
	"time"
)

// DefaultEnd is the day the bundled venue ends on, as RFC 3339.
const DefaultEnd = "2026-11-20T00:00:00Z"

// Defaults of a Config.
const (
	DefaultFills    = 200_000
	DefaultFileRows = 10_000_000
	minFileRows     = 64
)

// ErrConfig is returned for a Config no venue can be made from.
var ErrConfig = errors.New("sample venue")

// Config says which venue to make. The zero value is the bundled venue.
type Config struct {
	Fills    int64     // rows of the fill files, exactly; 0 means DefaultFills, at least 2 otherwise
	Seed     uint64    // any number: another one gives another venue of the same size
	End      time.Time // the venue's present: no fill is at or after it; whole hours; zero means DefaultEnd
	Days     int       // days of trading before End; 0 chooses by Fills: 30 to 400
	FileRows int64     // most rows in one fill file; 0 means DefaultFileRows

	// Chain makes a venue that a chain could hold: fills and payouts are at times of blocks,
	// orders are matched by the exchange of their day, and markets listed since 2 November
	// 2026 are of protocol V2, whose ids name their condition.
	Chain bool
}

func (c Config) withDefaults() (Config, error) {
	if c.Fills == 0 {
		c.Fills = DefaultFills
	}
	if c.End.IsZero() {
		end, err := time.Parse(time.RFC3339, DefaultEnd)
		if err != nil {
			return c, fmt.Errorf("%w: %w", ErrConfig, err)
		}
		c.End = end
	}
	c.End = c.End.UTC()
	if c.Days == 0 {
		c.Days = spanDays(c.Fills)
	}
	if c.FileRows == 0 {
		c.FileRows = DefaultFileRows
	}
	switch {
	case c.Fills < 2:
		return c, fmt.Errorf("%w: %d fills: at least 2 make a match", ErrConfig, c.Fills)
	case c.End.Unix()%3600 != 0 || c.End.Nanosecond() != 0:
		return c, fmt.Errorf("%w: end %s: must be on a whole hour", ErrConfig, c.End.Format(time.RFC3339Nano))
	case c.End.Year() < 2021 || c.End.Year() > 2034:
		return c, fmt.Errorf("%w: end %s: must be within 2021 to 2034", ErrConfig, c.End.Format(time.DateOnly))
	case c.Days < 7 || c.Days > 2000:
		return c, fmt.Errorf("%w: %d days: must be 7 to 2000", ErrConfig, c.Days)
	case c.FileRows < minFileRows:
		return c, fmt.Errorf("%w: %d rows per file: must be at least %d", ErrConfig, c.FileRows, minFileRows)
	}
	return c, nil
}

// start is the instant trading begins.
func (c Config) start() time.Time { return c.End.AddDate(0, 0, -c.Days) }

func (c Config) hours() int { return c.Days * 24 }

// spanDays is the number of trading days a venue of that many fills has.
func spanDays(fills int64) int {
	switch {
	case fills < 10_000:
		return 30
	case fills < 100_000:
		return 60
	case fills <= 2_000_000:
		return 120
	case fills <= 20_000_000:
		return 240
	}
	return 400
}

// walletCount is the number of wallets that may trade: 1.5 million at 100
// million fills, and in proportion to fills^¾ below, so that small venues keep
// enough of them. Square roots are exact on every machine, powers are not.
func walletCount(fills int64) int {
	root := math.Sqrt(float64(fills) / 1e8)
	return max(24, int(1_500_000*root*math.Sqrt(root)))
}

// marketCount is the number of markets outside the weather desk.
func marketCount(fills int64) int {
	return max(30, int(6*math.Sqrt(float64(fills))))
}

// weatherDays is how many past days the weather desk covers, and cities how
// many of the 55 cities have events.
func (c Config) weatherDays() (days, cities int) {
	switch {
	case c.Fills < 10_000:
		return 2, 6
	case c.Fills < 100_000:
		return 4, 55
	case c.Fills < 2_000_000:
		return 10, 55
	case c.Fills < 20_000_000:
		return min(c.Days, 60), 55
	case c.Fills < 50_000_000:
		return min(c.Days, 180), 55
	}
	return c.Days, 55
}
