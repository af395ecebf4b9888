package main

import (
	"context"
	"database/sql"
	"embed"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"pmx/data/reference"
	"pmx/engine/statement"
	"pmx/rollups"
	"pmx/rollups/weather"
)

//go:embed sql/rival.sql
var rivalFiles embed.FS

// rivalStatements derive each table of pmx rebuild in bare SQL, under its name.
var rivalStatements = statement.MustLoad(rivalFiles)

// rivalMacros are created before the tables.
var rivalMacros = []string{"price", "place", "index_ratio", "index_log"}

// rivalTables are the tables that pmx rebuild derives, and held and event, from which others are derived: each after those that it is
// derived from. desk_market and the local days of cities are computed in Go and given to the rival. Tables with which pmx only keeps
// track of its progress are left out: rollup_state, desk_state, index_stored, index_late and the empty deltas.
var rivalTables = []string{
	"desk_market", "weather_lead",
	"position", "wallet_day", "token_day", "token_total", "platform_hour", "platform_day",
	"held", "market_wallets", "redemption", "undated", "wallet_total", "wallet_window", "token_window",
	"token_price", "candle", "event", "event_wallets", "week_wallets", "month_wallets", "day_markets",
	"whale_move", "index_flow", "oracle_bin", "desk_wallet", "index_snapshot",
}

// rivalOwn are the tables that pmx does not keep.
var rivalOwn = []string{"held", "event"}

// rivalStatement makes a table; asOf is the time of the newest fill. If it is sorted, its rows are in the order of the key, as those
// of pmx are.
func rivalStatement(table string, asOf int64, sorted bool) string {
	kind := "TABLE"
	if slices.Contains(rivalOwn, table) {
		kind = "TEMP TABLE"
	}
	query := rivalStatements.Get(table, "@legs", rivalStatements.Get("legs"), "@asof", fmt.Sprint(asOf))
	if keys := rollups.Keys(table); sorted && keys != nil {
		query = duckStatements.Get("Sorted", "@query", query, "@keys", strings.Join(keys, ", "))
	}
	return duckStatements.Get("Derive", "@kind", kind, "@table", table, "@query", query)
}

// rebuild compares pmx rebuild with bare statements that derive the same tables from the same facts, in DuckDB and in ClickHouse.
func (b *bench) rebuild() error {
	ours := &laps{}
	k, err := openTraced(b.ctx, b.path("large"), false, ours.statement)
	if err != nil {
		return err
	}
	resetPeak()
	ours.begin("desk_market")
	err = k.Rebuild(b.ctx, func(name string, _, _ int) { ours.begin(name) })
	ours.end()
	peak := peakMemory()
	if err := errors.Join(err, k.Close()); err != nil {
		return err
	}
	return b.rebuildRivals(ours, peak)
}

func (b *bench) rebuildRivals(ours *laps, peak int64) (err error) {
	unsorted, err := b.rivalUnsorted()
	if err != nil {
		return err
	}
	defer func() { _ = os.Remove(b.path("rival.duckdb")) }()
	db, asOf, err := b.rivalDatabase()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	rival, err := rivalRebuild(b.ctx, db, asOf, true)
	if err != nil {
		return err
	}
	if err := compareTables(b.ctx, db); err != nil {
		return err
	}
	given := func(name string) bool { return name == "desk_market" } // the rival copies it
	files := func(name string) bool { return name == lapFiles }
	derived := func(name string) bool { return !given(name) && !files(name) }
	tables, bare, loose := ours.sum(derived), rival.sum(derived), unsorted.sum(derived)
	what := "rebuild every rollup, " + count(b.Fills) + " fills"
	of := len(rivalTables) - len(rivalOwn) - 1
	b.add(what, tables.String(), fmt.Sprintf("bare SQL, the same %d tables, also sorted by key: %s", of, bare), ratios(tables, bare), "≤ 1.10")
	b.add(what, tables.String(), fmt.Sprintf("bare SQL, the same %d tables, their rows in no order: %s", of, loose), ratios(tables, loose), "")
	b.add("markets of the weather desk, whose titles Go reads", ours.sum(given).String(), "", "", "")
	b.add("files in order of wallet and token, which pmx rebuild writes too", ours.sum(files).String(), "", "", "")
	b.add("peak memory of the rebuild", fmt.Sprintf("%.1f GiB", float64(peak)/(1<<30)), "", "", "≤ 12 GiB at 100M")
	fmt.Fprint(os.Stderr, bySteps(ours, rival))
	answer, err := b.clickhouse(db, asOf)
	switch {
	case errors.Is(err, errNoClickHouse):
		b.add(what, tables.String(), err.Error(), "", "≤ 1")
	case err != nil:
		return err
	default:
		theirs := rebuildTime{time.Duration(answer.Seconds * float64(time.Second)), time.Duration(answer.Processor * float64(time.Second))}
		b.add(what, tables.String(), "the tables of bare SQL in ClickHouse "+answer.Version+" "+theirs.String(), ratios(tables, theirs), "≤ 1")
	}
	return nil
}

// rivalUnsorted measures the rival without sorting, in a database of its own.
func (b *bench) rivalUnsorted() (l *laps, err error) {
	defer func() { _ = os.Remove(b.path("rival.duckdb")) }()
	db, asOf, err := b.rivalDatabase()
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	return rivalRebuild(b.ctx, db, asOf, false)
}

// rivalDatabase creates an empty database, with that of pmx attached as p. asOf is the time of the newest fill in p.
func (b *bench) rivalDatabase() (db *sql.DB, asOf int64, err error) {
	if db, err = duck(b.path("rival.duckdb"), "8GB"); err != nil {
		return nil, 0, err
	}
	if err = execAll(b.ctx, db, "ATTACH '"+b.path("large", "pmx.duckdb")+"' AS p (READ_ONLY)"); err == nil {
		err = db.QueryRowContext(b.ctx, duckStatements.Get("NewestTime")).Scan(&asOf)
	}
	if err != nil {
		return nil, 0, errors.Join(err, db.Close())
	}
	return db, asOf, nil
}

// rivalRebuild derives every table, sorted or not, and writes them to the file.
func rivalRebuild(ctx context.Context, db *sql.DB, asOf int64, sorted bool) (*laps, error) {
	if err := rivalStaged(ctx, db); err != nil {
		return nil, err
	}
	l := &laps{}
	for _, table := range rivalTables {
		l.begin(table)
		if err := execAll(ctx, db, rivalStatement(table, asOf, sorted)); err != nil {
			return nil, err
		}
	}
	l.begin(lapCheckpoint)
	err := execAll(ctx, db, "CHECKPOINT")
	l.end()
	return l, err
}

// rivalStaged does what is not measured: it creates the macros, and the local days of cities, which SQL cannot compute.
func rivalStaged(ctx context.Context, db *sql.DB) error {
	stmts := []string{"SET preserve_insertion_order = false", duckStatements.Get("Calendar")}
	for _, name := range rivalMacros {
		stmts = append(stmts, rivalStatements.Get(name))
	}
	if err := execAll(ctx, db, stmts...); err != nil {
		return err
	}
	rows, err := db.QueryContext(ctx, duckStatements.Get("CitySpans"))
	if err != nil {
		return err
	}
	defer func() { _ = rows.Close() }()
	var days []string
	for rows.Next() {
		var name string
		var first, last int64
		if err := rows.Scan(&name, &first, &last); err != nil {
			return err
		}
		if city, ok := reference.Gazetteer().City(name); ok {
			for day := city.DateOf(time.UnixMicro(first)); day <= city.DateOf(time.UnixMicro(last)); day++ {
				start, _ := city.Day(day)
				days = append(days, fmt.Sprintf("('%s', %d, %d, %d)", city.Slug, day, start.UnixMicro(), weather.Noon(city, day).UnixMicro()))
			}
		}
	}
	if err := errors.Join(rows.Err(), rows.Close()); err != nil || len(days) == 0 {
		return err
	}
	return execAll(ctx, db, duckStatements.Get("CalendarDays", "@days", strings.Join(days, ", ")))
}
