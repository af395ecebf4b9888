// Package sample generates a synthetic prediction-market venue: traders, events, markets and all
// fills, in the file formats of the real venue's data. The same Config gives the same bytes on
// every machine (as long as the time zones of the weather cities follow the same rules). So the
// venue can be used as the bundled data of a first run, for benchmarks of any size, and in tests
// whose sums are known beforehand. All money adds up exactly: every market has the same number of
// tokens of both outcomes, and the profits of all wallets in a resolved market sum to zero.
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

// ErrConfig is returned for an invalid Config.
var ErrConfig = errors.New("sample venue")

// Config describes the venue to generate. The zero value is the bundled venue.
type Config struct {
	Fills    int64     // exact number of rows of the fill files, at least 2; 0 means DefaultFills
	Seed     uint64    // any number: each gives a different venue of the same size
	End      time.Time // the venue's current time, on a whole hour: all fills are before it; zero means DefaultEnd
	Days     int       // days of trading before End; 0 means 30 to 400, depending on Fills
	FileRows int64     // maximum number of rows of a fill file; 0 means DefaultFileRows

	// Chain makes the venue fit a chain: fills and payouts have the times of blocks, orders are
	// matched by the exchange contract in use on that day, and markets listed since 2 November 2026
	// use protocol V2, in which the ids of tokens contain their condition.
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

// start is the time when trading begins.
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

// walletCount is the number of wallets that may trade: 1.5 million at 100 million fills, and in
// proportion to fills^¾ below that, so that small venues have enough of them. It uses square roots,
// which are exact on every machine; powers are not.
func walletCount(fills int64) int {
	root := math.Sqrt(float64(fills) / 1e8)
	return max(24, int(1_500_000*root*math.Sqrt(root)))
}

// marketCount is the number of markets other than those of the weather desk.
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
