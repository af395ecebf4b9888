package main

import (
	"bytes"
	"context"
	"database/sql"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

//go:embed clickhouse.py
var clickhouseProgram string

// errNoClickHouse says that there is nothing to compare with.
var errNoClickHouse = errors.New("chdb is not installed (pip install chdb; --python names the Python that has it)")

// clickhouseFacts gives the facts that the statements read to ClickHouse, out of the rival's attached database.
var clickhouseFacts = []struct{ table, query, columns, order string }{
	{"fills", "SELECT ts, wallet, token, side, role, shares, usd, fee FROM p.fills",
		"ts Int64, wallet Int32, token Int32, side Int8, role Int8, shares Int64, usd Int64, fee Int64", "ts"},
	{"tokens", "SELECT token, market, outcome FROM p.tokens", "token Int32, market Nullable(Int32), outcome Nullable(Int8)", "token"},
	{"markets", "SELECT market, resolved_at, payouts IS NOT NULL AS resolved, coalesce(payouts, []) AS payouts FROM p.markets",
		"market Int32, resolved_at Nullable(Int64), resolved Bool, payouts Array(Int64)", "market"},
}

const clickhouseLegs = `countIf(role <> 1), sumIf(usd, role <> 1), sumIf(shares, role <> 1), countIf(role = 1), sumIf(usd, role = 1), sumIf(shares, role = 1)`

// clickhouseRebuild derives the tables of rivalRebuild, column for column, in ClickHouse's words.
var clickhouseRebuild = []struct{ table, query string }{
	{"position", `SELECT token, wallet, count() AS fills, sumIf(shares, side = 0) AS bs, sumIf(shares, side = 1) AS ss,
  sumIf(greatest(fee, 0), side = 0) AS fs, sumIf(usd, side = 0) AS bu, sumIf(usd, side = 1) AS su, sum(if(side = 1, fee, greatest(-fee, 0))) AS fu
FROM fills GROUP BY token, wallet`},
	{"wallet_day", `SELECT intDiv(ts, 86400000000) AS day, wallet, count() AS fills, sumIf(usd, side = 0) AS bu, sumIf(usd, side = 1) AS su,
  sum(if(side = 1, fee, greatest(-fee, 0))) AS fu FROM fills GROUP BY day, wallet`},
	{"token_day", `SELECT intDiv(ts, 86400000000) AS day, token, ` + clickhouseLegs + ` FROM fills GROUP BY day, token`},
	{"token_total", `SELECT token, ` + clickhouseLegs + `, min(ts), max(ts) FROM fills GROUP BY token`},
	{"platform_hour", `SELECT intDiv(ts, 3600000000) AS hour, ` + clickhouseLegs + ` FROM fills GROUP BY hour`},
	{"platform_day", `SELECT intDiv(ts, 86400000000) AS day, ` + clickhouseLegs + `, uniqExact(wallet) FROM fills GROUP BY day`},
	{"held", `SELECT wallet, market, any(resolved_at) AS resolved_at, max(resolved) AS resolved, sum(fills) AS fills, sum(cash) AS cash,
  toInt64(intDiv(sum(worth) + if(sum(worth) < 0, -500000, 500000), 1000000)) AS redemption, countIf(shares < 0 AND resolved) AS short
FROM (SELECT h.wallet AS wallet, t.market AS market, m.resolved_at AS resolved_at, ifNull(m.resolved, false) AS resolved, h.fills AS fills,
    h.su - h.bu - h.fu AS cash, h.bs - h.ss - h.fs AS shares,
    toInt128(h.bs - h.ss - h.fs) * if(length(m.payouts) > ifNull(t.outcome, 127), m.payouts[ifNull(t.outcome, 0) + 1], 0) AS worth
  FROM position AS h JOIN tokens AS t ON t.token = h.token LEFT JOIN markets AS m ON m.market = t.market) AS v
GROUP BY wallet, market`},
	{"market_wallets", `SELECT market, count() FROM held GROUP BY market`},
	{"redemption", `SELECT resolved_at, market, wallet, redemption AS usd FROM held WHERE resolved AND redemption <> 0`},
	{"wallet_total", `SELECT f.wallet, f.fills, f.makers, f.takers, f.bu, f.su, f.first, f.last, d.days, h.markets, h.resolved, h.won, h.redemption, h.open_cash
FROM (SELECT wallet, count() AS fills, countIf(role = 1) AS makers, countIf(role = 2) AS takers, sumIf(usd, side = 0) AS bu, sumIf(usd, side = 1) AS su,
  min(ts) AS first, max(ts) AS last FROM fills GROUP BY wallet) AS f
JOIN (SELECT wallet, count() AS days FROM wallet_day GROUP BY wallet) AS d ON d.wallet = f.wallet
JOIN (SELECT wallet, count() AS markets, countIf(resolved) AS resolved, countIf(resolved AND cash + redemption > 0) AS won,
  sum(redemption) AS redemption, sumIf(cash, NOT resolved) AS open_cash FROM held GROUP BY wallet) AS h ON h.wallet = f.wallet`},
	{"wallet_window", windows(`SELECT @span AS span, wallet, sum(fills) AS fills, sum(bu) AS bu, sum(su) AS su, sum(r) AS r FROM (
  SELECT wallet, 1 AS fills, if(side = 0, usd, 0) AS bu, if(side = 1, usd, 0) AS su, 0 AS r FROM fills WHERE ts > @lo
  UNION ALL SELECT wallet, 0, 0, 0, usd FROM redemption WHERE resolved_at > @lo AND resolved_at <= @hi) AS x GROUP BY wallet`)},
	{"token_window", windows(`SELECT @span AS span, token, ` + clickhouseLegs + ` FROM fills WHERE ts > @lo GROUP BY token`)},
}

// clickhouseTask is what the program reads, clickhouseAnswer what it writes.
type clickhouseTask struct {
	Folder  string   `json:"folder"`
	Prepare []string `json:"prepare"`
	Timed   []string `json:"timed"`
	Sums    []string `json:"sums"`
}

type clickhouseAnswer struct {
	Seconds   float64    `json:"seconds"`
	Processor float64    `json:"processor"`
	Version   string     `json:"version"`
	Sums      [][]string `json:"sums"`
}

// clickhouse derives the rival's tables in ClickHouse, from the facts of db, which has the rival's tables as well: the
// error tells of any that is not equal in its rows and in the sum of each column.
func (b *bench) clickhouse(db *sql.DB, asOf int64) (answer clickhouseAnswer, err error) {
	if exec.CommandContext(b.ctx, b.Python, "-c", "import chdb").Run() != nil {
		return answer, errors.Join(b.ctx.Err(), errNoClickHouse)
	}
	dir := b.path("clickhouse")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return answer, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	task := clickhouseTask{Folder: filepath.Join(dir, "data"), Prepare: []string{"SET join_use_nulls = 1", "SET prefer_column_name_to_alias = 1"}}
	for _, f := range clickhouseFacts {
		file := filepath.Join(dir, f.table+".parquet")
		if err := execAll(b.ctx, db, "COPY ("+f.query+") TO '"+file+"' (FORMAT parquet)"); err != nil {
			return answer, err
		}
		task.Prepare = append(task.Prepare, "CREATE TABLE "+f.table+" ("+f.columns+") ENGINE = MergeTree ORDER BY "+f.order,
			"INSERT INTO "+f.table+" SELECT * FROM file('"+file+"', Parquet, '"+f.columns+"')")
	}
	for _, t := range clickhouseRebuild {
		task.Timed = append(task.Timed, "CREATE TABLE "+t.table+" ENGINE = MergeTree ORDER BY tuple() AS "+strings.ReplaceAll(t.query, "@asof", fmt.Sprint(asOf)))
		task.Sums = append(task.Sums, "SELECT count(), COLUMNS('.*') APPLY(x -> ifNull(sum(toInt128(x)), 0)) FROM "+t.table)
	}
	if answer, err = runClickHouse(b.ctx, b.Python, task); err != nil {
		return answer, err
	}
	for i, t := range clickhouseRebuild {
		want, err := sumsOf(b.ctx, db, t.table)
		if err != nil {
			return answer, err
		}
		if !slices.Equal(answer.Sums[i], want) {
			return answer, fmt.Errorf("ClickHouse's %s has rows and sums %v, the bare statements' %v", t.table, answer.Sums[i], want)
		}
	}
	return answer, nil
}

func runClickHouse(ctx context.Context, python string, task clickhouseTask) (answer clickhouseAnswer, err error) {
	text, err := json.Marshal(task)
	if err != nil {
		return answer, err
	}
	cmd := exec.CommandContext(ctx, python, "-c", clickhouseProgram)
	var out, said bytes.Buffer
	cmd.Stdin, cmd.Stdout, cmd.Stderr = bytes.NewReader(text), &out, &said
	if err := cmd.Run(); err != nil {
		return answer, fmt.Errorf("ClickHouse: %w: %.2000s", err, said.String())
	}
	return answer, json.Unmarshal(out.Bytes(), &answer)
}

// sumsOf is how many rows a table of the rival has, and what each of its columns adds up to.
func sumsOf(ctx context.Context, db *sql.DB, table string) (sums []string, err error) {
	rows, err := db.QueryContext(ctx, "SELECT count(*), coalesce(SUM(COLUMNS(*)), 0) FROM "+table)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	columns, err := rows.Columns()
	if err != nil {
		return nil, err
	}
	values, at := make([]any, len(columns)), make([]any, len(columns))
	for i := range values {
		at[i] = &values[i]
	}
	for rows.Next() {
		if err := rows.Scan(at...); err != nil {
			return nil, err
		}
	}
	for _, v := range values {
		sums = append(sums, fmt.Sprint(v))
	}
	return sums, rows.Err()
}

// rebuildTime is what a rebuild took, on the clock and of the processor.
type rebuildTime struct{ took, worked time.Duration }

func (t rebuildTime) String() string {
	return fmt.Sprintf("%s, %s of processor time", t.took.Round(10*time.Millisecond), t.worked.Round(10*time.Millisecond))
}

// measuredRebuild is what f took.
func measuredRebuild(f func() error) (t rebuildTime, err error) {
	used := processorTime()
	t.took, err = timed(f)
	t.worked = processorTime() - used
	return t, err
}
