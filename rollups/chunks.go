package rollups

import (
	"context"
	"database/sql"
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/dustin/go-humanize"
)

// groupedBytes is an upper bound of the memory per row for grouping rows: sums of 128 bits, their
// keys, and sorting them afterwards. DuckDB spills some of it to disk, but not all.
const groupedBytes = 512

// keyRange is a stretch of the values of a key, both ends included; math.MinInt64 and
// math.MaxInt64 are open ends.
type keyRange struct{ lo, hi int64 }

var wholeRange = keyRange{math.MinInt64, math.MaxInt64}

func (r keyRange) whole() bool { return r == wholeRange }

// of is the condition that a key is in the range.
func (r keyRange) of(key string) string {
	lo, hi := strconv.FormatInt(r.lo, 10), strconv.FormatInt(r.hi, 10)
	switch {
	case r.whole():
		return "true"
	case r.lo == math.MinInt64:
		return key + " <= " + hi
	case r.hi == math.MaxInt64:
		return key + " >= " + lo
	}
	return key + " BETWEEN " + lo + " AND " + hi
}

// times is the condition that the second of a fill, divided by unit, is in the range. Zone maps know seconds.
func (r keyRange) times(unit int64) string {
	var parts []string
	if r.lo != math.MinInt64 {
		parts = append(parts, "seconds >= "+strconv.FormatInt(r.lo*unit, 10))
	}
	if r.hi != math.MaxInt64 {
		parts = append(parts, "seconds < "+strconv.FormatInt((r.hi+1)*unit, 10))
	}
	if parts == nil {
		return "true"
	}
	return strings.Join(parts, " AND ")
}

// days are the days of the keys in the range, whose first day first returns. Zone maps know days.
func (r keyRange) days(first func(key int64) int64) keyRange {
	if r.lo != math.MinInt64 {
		r.lo = first(r.lo)
	}
	if r.hi != math.MaxInt64 {
		r.hi = first(r.hi+1) - 1
	}
	return r
}

// inHours is the condition that the hour of a fill is in the range.
func (r keyRange) inHours() string { return r.times(hourSeconds) }

// keySource says how many rows a rollup's definition groups under each value of its first key.
type keySource struct {
	table  string // whose rows are counted; @suffix is that of the rollups built before
	key    string // of a row there
	weight int64  // memory for grouping a row, in rows of ordinary width; 0: 1
	unit   int64  // of the key in seconds, if only facts of that time are read
	second string // the rollup has one row for each key and this, which are counted in place of rows
	// firstDay is the first day of a key that is a number of days in a row, which follow from the table's column day; nil: it is none.
	firstDay func(key int64) int64
}

// mostWeight is the largest weight, that of a wallet's totals: seventeen sums of three sources.
const mostWeight = 12

const (
	daySeconds  = 86_400
	hourSeconds = 3_600
	hourOfFill  = "seconds // 3600"
)

var (
	byTokenWallet  = keySource{table: "fills", key: "token", second: "wallet"}
	byTokenHour    = keySource{table: "fills", key: "token", second: hourOfFill}
	byDayFills     = keySource{table: "fills", key: "seconds // 86400", unit: daySeconds}
	eachToken      = keySource{table: "tokens", key: "token"}
	eachWindow     = keySource{table: "tokens", key: "token", weight: 3}
	eachMarket     = keySource{table: "markets", key: "market"}
	eachWallet     = keySource{table: "wallets", key: "wallet", weight: mostWeight}
	byRedemption   = keySource{table: "(FROM held_all WHERE resolved AND redemption <> 0)", key: "coalesce(resolved_at, 0)"}
	byUndatedTrade = keySource{table: "undated_after", key: "last_ts"}
	byWeek         = keySource{table: "wallet_day@suffix", key: "(day + 3) // 7", firstDay: weekStart}
	byMonth        = keySource{table: "wallet_day@suffix", key: "date_diff('month', DATE '1970-01-01', DATE '1970-01-01' + day)", firstDay: monthStart}
	byTokenDay     = keySource{table: "token_day@suffix", key: "day"}
	byWhaleTime    = keySource{table: "whale_all", key: "ts"}
)

// chunker divides work into ranges of keys with at most so many rows each. It lives for one
// rebuild, or verification, whose context it keeps.
type chunker struct {
	ctx   context.Context
	conn  *sql.Conn
	rows  int64 // at once
	most  int64 // rows of the largest table of facts; no rollup or temporary table has more
	known map[counting][]keyRange
}

// counting is a query of keys and their rows, the aggregate that counts those that are processed, and how many that may be at once.
type counting struct {
	rows, count string
	most        int64
}

// Ways to count the rows of a counting: all of them, or those with another pair of keys, of which PairsOf has every eighth. An
// estimate of one range of keys is some 13 % off, and up to 30 %, and more where it has few pairs; a chunk usually has hundreds of them,
// and one of few keys has rows for which groupedBytes leaves room.
const (
	sumOfRows      = "SUM(n)"
	estimatedPairs = "8 * approx_count_distinct(pair)"
)

// newChunker makes a chunker for so many rows at once; 0: as many as the memory of the database
// allows.
func newChunker(ctx context.Context, conn *sql.Conn, rows int64) (*chunker, error) {
	if rows <= 0 {
		var text string
		if err := conn.QueryRowContext(ctx, statements.Get("MemoryLimit")).Scan(&text); err != nil {
			return nil, err
		}
		limit, err := humanize.ParseBytes(text)
		if err != nil {
			return nil, fmt.Errorf("memory limit %q: %w", text, err)
		}
		rows = max(1, int64(min(limit, math.MaxInt64))/groupedBytes)
	}
	var largest int64
	if err := conn.QueryRowContext(ctx, statements.Get("LargestFacts")).Scan(&largest); err != nil {
		return nil, err
	}
	return &chunker{ctx: ctx, conn: conn, rows: rows, most: largest, known: map[counting][]keyRange{}}, nil
}

// narrow is how many rows of a quarter of the ordinary width can be processed at once.
func (p *chunker) narrow() int64 { return 4 * p.rows }

// chunks is the number of chunks for so many narrow rows.
func (p *chunker) chunks(rows int64) int64 { return max(1, (rows+p.narrow()-1)/p.narrow()) }

// narrowRanges is ranges for narrow rows.
func (p *chunker) narrowRanges(weights string) ([]keyRange, error) {
	return p.rangesOf(weights, p.narrow())
}

// ranges divides all keys into ascending ranges, each with at most as many rows as can be processed at once,
// where a row counts as weight ordinary ones. A key with more rows has a range to itself. weights has rows of a
// key and its number of rows.
func (p *chunker) ranges(weights string, weight int64) ([]keyRange, error) {
	return p.rangesOf(weights, max(1, p.rows/max(1, weight)))
}

// rangesOf is ranges with at most so many rows each.
func (p *chunker) rangesOf(weights string, most int64) ([]keyRange, error) {
	return p.rangesBy(counting{weights, sumOfRows, most})
}

// rangesBySource is ranges of a rollup's first key; suffix is that of the rollups built before.
func (p *chunker) rangesBySource(of keySource, suffix string) ([]keyRange, error) {
	table := strings.ReplaceAll(of.table, "@suffix", suffix)
	by := counting{statements.Get("KeysOf", "@key", of.key, "@table", table), sumOfRows, max(1, p.rows/max(1, of.weight))}
	if of.firstDay != nil { // a month is computed for each day, not for each row
		by.rows = statements.Get("DaysOf", "@key", of.key, "@table", table)
	}
	if of.second != "" {
		by.rows, by.count = statements.Get("PairsOf", "@key", of.key, "@second", of.second, "@table", table), estimatedPairs
	}
	return p.rangesBy(by)
}

func (p *chunker) rangesBy(by counting) ([]keyRange, error) {
	if p.most <= by.most {
		return []keyRange{wholeRange}, nil
	}
	if known, ok := p.known[by]; ok {
		return known, nil
	}
	var lo, hi, rows int64
	if err := p.conn.QueryRowContext(p.ctx, statements.Get("KeyEnds", "@weights", by.rows)).Scan(&lo, &hi, &rows); err != nil {
		return nil, fmt.Errorf("KeyEnds: %w", err)
	}
	c := &cutting{most: by.most}
	if rows > by.most {
		if err := p.cut(c, by, lo, hi); err != nil {
			return nil, err
		}
	}
	p.known[by] = c.ranges()
	return p.known[by], nil
}

// stretches is how many intervals of keys are counted at a time.
const stretches = 4096

// cut goes through the keys from lo to hi, and recursively through an interval with too many rows.
func (p *chunker) cut(c *cutting, by counting, lo, hi int64) error {
	width := (hi-lo)/stretches + 1
	type stretch struct{ first, rows int64 }
	var counted []stretch
	rows, err := p.conn.QueryContext(p.ctx, statements.Get("KeyWeights", "@weights", by.rows, "@count", by.count, "@lo", strconv.FormatInt(lo, 10),
		"@hi", strconv.FormatInt(hi, 10), "@width", strconv.FormatInt(width, 10)))
	if err != nil {
		return fmt.Errorf("KeyWeights: %w", err)
	}
	defer func() { _ = rows.Close() }()
	for rows.Next() {
		var s stretch
		if err := rows.Scan(&s.first, &s.rows); err != nil {
			return err
		}
		s.first = lo + s.first*width
		counted = append(counted, s)
	}
	if err := rows.Err(); err != nil {
		return err
	}
	for _, s := range counted {
		if s.rows > c.most && width > 1 {
			if err := p.cut(c, by, s.first, min(hi, s.first+width-1)); err != nil {
				return err
			}
			continue
		}
		c.add(s.first, s.rows)
	}
	return nil
}

// cutting gathers ascending keys into ranges.
type cutting struct {
	most, rows int64
	firsts     []int64 // of all ranges but the first
}

func (c *cutting) add(key, rows int64) {
	if c.rows > 0 && c.rows+rows > c.most {
		c.firsts, c.rows = append(c.firsts, key), 0
	}
	c.rows += rows
}

func (c *cutting) ranges() []keyRange {
	out := make([]keyRange, 0, len(c.firsts)+1)
	lo := int64(math.MinInt64)
	for _, first := range c.firsts {
		out = append(out, keyRange{lo, first - 1})
		lo = first
	}
	return append(out, keyRange{lo, math.MaxInt64})
}
