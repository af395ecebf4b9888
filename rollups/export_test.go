package rollups

import (
	"context"
	"database/sql"
	"math"

	"pmx/engine"
)

// RebuildAtOnce is Rebuild with that many rows at once; 0 for as many as memory allows.
func RebuildAtOnce(ctx context.Context, db *engine.DB, conn *sql.Conn, rows int64) error {
	return rebuildAtOnce(ctx, db, conn, nil, rows, nil)
}

// VerifyAtOnce is Verify with that many rows at once.
func VerifyAtOnce(ctx context.Context, conn *sql.Conn, rows int64) ([]Check, error) {
	return verifyAtOnce(ctx, conn, nil, rows, nil, nil)
}

// Ranges returns ranges of keys, including both ends, with at most that many rows each.
func Ranges(ctx context.Context, conn *sql.Conn, weights string, most int64) ([][2]int64, error) {
	ranges, err := chunkerOf(ctx, conn, most).ranges(weights, 1)
	return bounds(ranges), err
}

// RangesOfPairs is Ranges for the different pairs of a table's columns key and second.
func RangesOfPairs(ctx context.Context, conn *sql.Conn, table string, most int64) ([][2]int64, error) {
	ranges, err := chunkerOf(ctx, conn, most).rangesBySource(keySource{table: table, key: "key", second: "second"}, "")
	return bounds(ranges), err
}

func chunkerOf(ctx context.Context, conn *sql.Conn, most int64) *chunker {
	return &chunker{ctx: ctx, conn: conn, rows: most, most: math.MaxInt64, known: map[counting][]keyRange{}}
}

func bounds(ranges []keyRange) (out [][2]int64) {
	for _, r := range ranges {
		out = append(out, [2]int64{r.lo, r.hi})
	}
	return out
}

// SumByStatements makes the Merger sum up every batch by statements.
func (g *Merger) SumByStatements() { g.byStatements = true }

// HoldAtMost makes the Merger value at most that many positions in memory.
func (g *Merger) HoldAtMost(n int) { g.mostHeld = n }

// Held returns how many positions by outcome the last batch valued in memory, and how many wallets
// it changed on the weather desk.
func (g *Merger) Held() (legs, desk int) {
	if g.added.sums == nil {
		return 0, 0
	}
	return len(g.added.sums.held.legs.rows), len(g.added.sums.deskWallets.rows)
}

// LastInMemory reports whether the last batch was summed up in memory.
func (g *Merger) LastInMemory() bool { return g.added.sums != nil }

// CurrentOf reads the whole table of a rollup in little memory, and those rows of base and delta that it adds up for that. It names
// the keys.
func CurrentOf(ctx context.Context, conn *sql.Conn, name string) (rows, added string, keys []string, err error) {
	t := tableNamed(name)
	rows, err = t.current(ctx, conn)
	return rows, t.ofDelta(), t.keys, err
}

// HoldingsOf returns a statement that must run first, and those that read what every wallet holds from positions.
func HoldingsOf(positions string) (first string, statementsOf []string) {
	for _, name := range []string{"HeldPlain", "HeldLegsAlone", "HeldLegsShared"} {
		statementsOf = append(statementsOf, statements.Get(name, "@positions", positions, "@among", "t.market BETWEEN 1 AND 9"))
	}
	return statements.Get("HeldTokensAll"), statementsOf
}

// HasDay reports whether the days of a range of keys, from lo to hi, have a day, and whether its key is in the range: of weeks, or of months.
func HasDay(lo, hi, day int64, months bool) (days, keys bool) {
	first, key := weekStart, weekOf(day)
	if months {
		first, key = monthStart, monthOf(day)
	}
	of := keyRange{lo, hi}.days(first)
	return of.lo <= day && day <= of.hi, lo <= key && key <= hi
}
