// Package rollups derives every aggregate from the facts: it merges a batch at a cost proportional
// to the batch, rebuilds all aggregates from the facts, verifies that both agree, compacts deltas
// into bases, and keeps the in-memory snapshot that is served.
package rollups

import (
	"context"
	"database/sql"
	"embed"
	"fmt"
	"slices"
	"strings"

	"pmx/engine/statement"
)

//go:embed sql/*.sql
var sqlFiles embed.FS

var statements = statement.MustLoad(sqlFiles)

// table is one rollup: a base sorted by its keys and the delta appended to it. Sums add up; for
// greatest, HUGEINT columns, the larger value is used; extremes are the first and last time and
// merge by min and max.
type table struct {
	name     string
	keys     []string
	order    []string // by which the rows of its base are sorted instead, nil: by keys
	sums     []string
	greatest []string
	packed   []packed // columns that the base has in another form
	extremes bool
	delta    string    // names the statement of what a batch adds
	rebuild  string    // names the definition, "" if it is delta over all facts
	with     batchKind // which kinds of data in a batch it changes with, 0: anything
	unread   bool      // the live snapshot does not follow it
	by       keySource // how its definition is divided into ranges of the first key, zero: not at all
}

// batchKind is a kind of data in a batch that rollups change with.
type batchKind uint8

const (
	withFills   batchKind = 1 << iota // its fills: without any, as_of stays, and no window moves
	withHolders                       // holdings that are revalued
	withMarkets                       // markets and tokens that are described or mapped
)

// bySides tells rows of what was only bought, only sold, and both. DuckDB stores 2,048 consecutive values of a column
// with the bits that the largest needs: next to each other, zeros take none. token_stretch_sums.go writes positions in this order.
const bySides = "CASE WHEN sell_usd = 0 THEN 0 WHEN buy_usd = 0 THEN 1 ELSE 2 END"

// byPlainAmounts tells positions whose shares are whole hundredths, bought and sold at a price of a 10,000th of a dollar, from others, by the
// columns of the base. token_stretch_sums.go writes positions in this order.
const byPlainAmounts = "CASE WHEN buy_beyond = 0 AND sell_beyond = 0 AND buy_rest BETWEEN 0 AND 1 AND sell_rest BETWEEN 0 AND 1 THEN 0 ELSE 1 END"

// byDigits tells rows of few dollars from those of many, by every four bits.
const byDigits = "(log2(greatest(buy_usd, sell_usd, 1)) / 4)::TINYINT"

var legSums = []string{"taker_fills", "taker_usd", "taker_shares", "maker_fills", "maker_usd", "maker_shares"}

// tables are all rollups, in an order in which each may be built from those
// before it.
var tables = allTables()

// coreTables are the rollups that everything else is made from.
func coreTables() []table {
	return []table{
		{name: "position", delta: "DeltaPosition", by: byTokenWallet, with: withFills, keys: []string{"token", "wallet"},
			// In stretches of few tokens (stretchTokens): those of one are still in few row groups.
			order: []string{"token // 256", bySides, byPlainAmounts, "token", "wallet"},
			sums:  []string{"fills", "buy_shares", "sell_shares", "fee_shares", "buy_usd", "sell_usd", "fee_usd"},
			packed: []packed{packedHundredths("buy_shares", "buy_"), packedHundredths("sell_shares", "sell_"),
				packedDollars("buy_usd", "buy_shares", "buy_"), packedDollars("sell_usd", "sell_shares", "sell_")}},
		{name: "wallet_day", delta: "DeltaWalletDay", by: byDayFills, with: withFills, keys: []string{"day", "wallet"}, order: []string{"day", bySides, byDigits, "wallet"}, sums: []string{"fills", "buy_usd", "sell_usd", "fee_usd"}},
		{name: "token_day", delta: "DeltaTokenDay", by: byDayFills, with: withFills, keys: []string{"day", "token"}, sums: legSums},
		{name: "token_total", delta: "DeltaTokenTotal", rebuild: "RebuildTokenTotal", by: eachToken, with: withFills, keys: []string{"token"}, sums: legSums, extremes: true},
		{name: "platform_hour", delta: "DeltaPlatformHour", rebuild: "RebuildPlatformHour", with: withFills, keys: []string{"hour"}, sums: legSums},
		{name: "platform_day", delta: "DeltaPlatformDay", rebuild: "RebuildPlatformDay", with: withFills, keys: []string{"day"}, sums: append(append([]string(nil), legSums...), "active_wallets")},
		{name: "market_wallets", delta: "DeltaMarketWallets", rebuild: "RebuildMarketWallets", by: eachMarket, with: withFills | withHolders, keys: []string{"market"}, sums: []string{"wallets"}},
		{name: "redemption", delta: "DeltaRedemption", rebuild: "RebuildRedemption", by: byRedemption, with: withHolders, keys: []string{"resolved_at", "market", "wallet"}, order: []string{"resolved_at", "market", "beyond <> 0", "usd", "wallet"}, sums: []string{"usd"},
			packed: []packed{packedHundredths("usd", "")}},
		undatedTable(),
		{name: "wallet_total", delta: "DeltaWalletTotal", rebuild: "RebuildWalletTotal", by: eachWallet, with: withFills | withHolders, keys: []string{"wallet"}, extremes: true, sums: []string{"fills", "maker_fills", "taker_fills",
			"buy_usd", "sell_usd", "fee_usd", "days", "markets", "resolved_markets", "winning_markets", "negative_legs",
			"unmapped_fills", "redemption", "unresolved_cash"}},
		{name: "wallet_window", delta: "DeltaWalletWindow", by: eachWallet, with: withFills | withHolders, keys: []string{"wallet", "span"},
			sums: []string{"fills", "buy_usd", "sell_usd", "fee_usd", "redemption", "undated", "undated_markets"}},
		{name: "token_window", delta: "DeltaTokenWindow", by: eachWindow, with: withFills, keys: []string{"token", "span"}, sums: legSums},
	}
}

func tableNamed(name string) table {
	for _, t := range tables {
		if t.name == name {
			return t
		}
	}
	panic("no rollup named " + name)
}

func (t table) deltaTable() string { return t.name + "_delta" }

// columns are all columns in table order.
func (t table) columns() []string {
	cols := slices.Concat(t.keys, t.sums, t.greatest)
	if t.extremes {
		cols = append(cols, "first_ts", "last_ts")
	}
	return cols
}

func (t table) columnList() string { return strings.Join(t.columns(), ", ") }

// rows reads a table with the rollup's columns.
func (t table) rows(from string) string {
	return statements.Get("TableRows", "@columns", t.columnList(), "@table", from)
}

// batchTable has what the batch merged last adds.
func (t table) batchTable() string { return "d_" + t.name }

// counting leaves out the rows of a query that change nothing.
func (t table) counting(query string) string {
	return statements.Get("RowsThatCount", "@rows", query, "@counts", t.nonZero())
}

// nonZero is the condition that a row changes anything: one of its sums is not zero, or one of its
// greatest is not NULL.
func (t table) nonZero() string {
	var any []string
	for _, c := range t.sums {
		any = append(any, c+" <> 0")
	}
	for _, c := range t.greatest {
		any = append(any, c+" IS NOT NULL")
	}
	return strings.Join(any, " OR ")
}

// typed casts the columns of a select to the table's types: sums of BIGINT are
// HUGEINT in DuckDB.
func (t table) typed(from string) string {
	parts := append([]string(nil), t.keys...)
	for _, c := range t.sums {
		parts = append(parts, c+"::BIGINT AS "+c)
	}
	for _, c := range t.greatest {
		parts = append(parts, c+"::HUGEINT AS "+c)
	}
	if t.extremes {
		parts = append(parts, "first_ts", "last_ts")
	}
	return statements.Get("TypedRows", "@columns", strings.Join(parts, ", "), "@rows", from)
}

// grouped sums the rows of from by key and drops those that cancel out.
func (t table) grouped(from string) string {
	parts := append([]string(nil), t.keys...)
	for _, c := range t.sums {
		parts = append(parts, "SUM("+c+") AS "+c)
	}
	for _, c := range t.greatest {
		parts = append(parts, "max("+c+") AS "+c)
	}
	if t.extremes {
		parts = append(parts, "min(first_ts) AS first_ts", "max(last_ts) AS last_ts")
	}
	return t.counting(t.typed(t.named("RowsByKey", "@columns", strings.Join(parts, ", "), "@rows", from)))
}

// merged is base and delta added up under a condition on keys, "" for all.
func (t table) merged(where string) string {
	if where != "" {
		where = " WHERE " + where
	}
	return t.grouped(t.named("BaseAndDelta", "@columns", t.columnList(), "@where", where))
}

// baseAndDelta reads the rows of base and delta, for callers that add rows up themselves.
func (t table) baseAndDelta() string {
	return t.named("BaseAndDelta", "@columns", t.columnList(), "@where", "")
}

// those is baseAndDelta under a condition on keys.
func (t table) those(which string) string {
	return t.named("BaseAndDelta", "@columns", t.columnList(), "@where", " WHERE "+which)
}

// current reads the whole table in little memory: rows are added up only for the keys that the delta has, and if it is empty, the
// base is read alone. All keys count: most rows of a rollup by token and wallet are those of tokens that are traded all the time.
func (t table) current(ctx context.Context, conn *sql.Conn) (string, error) {
	var delta int64
	if err := conn.QueryRowContext(ctx, t.named("DeltaRows")).Scan(&delta); err != nil {
		return "", err
	}
	if delta == 0 {
		return t.rows(t.name), nil
	}
	return t.named("BaseAlone", "@columns", t.columnList(), "@grouped", t.grouped(t.ofDelta()), "@same", t.sameKeys()), nil
}

// ofDelta reads the rows of base and delta that current adds up.
func (t table) ofDelta() string {
	return t.named("BaseOfDelta", "@columns", t.columnList(), "@same", t.sameKeys())
}

// sameKeys is the condition that a row b of the base and a row d of the delta have the same keys, of which any may be NULL.
func (t table) sameKeys() string {
	list := make([]string, len(t.keys))
	for i, key := range t.keys {
		list[i] = "d." + key + " IS NOT DISTINCT FROM b." + key
	}
	return strings.Join(list, " AND ")
}

// replace replaces base and delta by the rows of a query.
func (t table) replace(ctx context.Context, conn *sql.Conn, rows string) error {
	if err := t.empty(ctx, conn); err != nil {
		return err
	}
	return t.fill(ctx, conn, rows)
}

// fill appends rows to the base, in its order.
func (t table) fill(ctx context.Context, conn *sql.Conn, rows string) error {
	if _, err := conn.ExecContext(ctx, t.named("FillBase", "@stored", t.stored(), "@rows", rows)); err != nil {
		return fmt.Errorf("FillBase: %w", err)
	}
	return nil
}

// empty empties base and delta.
func (t table) empty(ctx context.Context, conn *sql.Conn) error {
	for _, name := range []string{t.name, t.deltaTable()} {
		if err := remake(ctx, conn, name); err != nil {
			return err
		}
	}
	return nil
}

// remake empties a table by making it again: DuckDB remembers each row that a transaction deletes, 8 bytes in memory
// until its end, which for the rollups of 100 million fills is a gigabyte that cannot be written to disk.
func remake(ctx context.Context, conn *sql.Conn, name string) error {
	definition, err := tableDefinition(ctx, conn, name)
	if err != nil {
		return err
	}
	for _, query := range []string{statements.Get("DropTable", "@table", name), definition} {
		if _, err := conn.ExecContext(ctx, query); err != nil {
			return fmt.Errorf("make %s again: %w", name, err)
		}
	}
	return nil
}

// tableDefinition is the statement that makes a table of the database.
func tableDefinition(ctx context.Context, conn *sql.Conn, name string) (definition string, err error) {
	if err := conn.QueryRowContext(ctx, statements.Get("TableDefinition", "@table", name)).Scan(&definition); err != nil {
		return "", fmt.Errorf("TableDefinition of %s: %w", name, err)
	}
	return definition, nil
}

// named is a statement about the table.
func (t table) named(name string, replace ...string) string {
	return statements.Get(name, append([]string{"@base", t.name, "@delta", t.deltaTable(), "@first", t.keys[0],
		"@keys", strings.Join(t.keys, ", "), "@order", t.orderList()}, replace...)...)
}

// orderList is what the rows of the base are sorted by.
func (t table) orderList() string {
	if t.order == nil {
		return strings.Join(t.keys, ", ")
	}
	return strings.Join(t.order, ", ")
}

// replaceWord puts with in the place of the table name word.
func replaceWord(text, word, with string) string {
	return strings.ReplaceAll(text, "FROM "+word, "FROM "+with)
}
