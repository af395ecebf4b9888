package main

import (
	"bytes"
	"context"
	"database/sql"
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"pmx/engine/statement"
	"pmx/rollups"
)

//go:embed clickhouse.py
var clickhouseProgram string

// errNoClickHouse is returned if there is no ClickHouse to compare with.
var errNoClickHouse = errors.New("chdb is not installed (pip install chdb; --python names the Python that has it)")

//go:embed sql/clickhouse.sql
var clickhouseFiles embed.FS

var clickhouseStatements = statement.MustLoad(clickhouseFiles)

// clickhouseFacts are the tables that the statements read, with the statements that copy them from the rival's database and the attached one.
var clickhouseFacts = []struct{ table, query, columns, order string }{
	{"fills", "ClickHouseFills",
		"ts Int64, wallet Int32, token Int32, side Int8, role Int8, shares Int64, usd Int64, fee Int64, tx Nullable(String), log_index Nullable(Int32)", "ts"},
	{"tokens", "ClickHouseTokens", "token Int32, market Nullable(Int32), outcome Nullable(Int8)", "token"},
	{"markets", "ClickHouseMarkets",
		"market Int32, resolved_at Nullable(Int64), payouts Array(Int64), category Nullable(String), event_slug Nullable(String), event_id Nullable(String)", "market"},
	{"desk_market", "ClickHouseDeskMarkets", "market Int32", "market"},
	{"weather_issue", "ClickHouseIssues",
		"city String, target Int32, metric Int8, source String, issued_at Int64, value Int32", "issued_at"},
	{"calendar", "ClickHouseCalendar", "city String, day Int32, starts Int64, noon Int64", "starts"},
}

// clickhouseTables are the tables that ClickHouse derives: those that the rival derives, without desk_market, which both are given.
func clickhouseTables() []string {
	return slices.DeleteFunc(slices.Clone(rivalTables), func(name string) bool { return name == "desk_market" })
}

// clickhouseStatement is the query of a table.
func clickhouseStatement(table string, asOf, whale int64) string {
	text := clickhouseStatements.Get(table, "@legs", clickhouseStatements.Get("legs"), "@spans", clickhouseStatements.Get("spans"), "@whale", fmt.Sprint(whale))
	return strings.ReplaceAll(text, "@asof", fmt.Sprint(asOf))
}

// clickhouseTask is the input of the program, clickhouseAnswer its output.
type clickhouseTask struct {
	Folder  string   `json:"folder"`
	Prepare []string `json:"prepare"`
	Timed   []string `json:"timed"`
	Sums    []string `json:"sums"`
}

type clickhouseAnswer struct {
	Seconds   float64  `json:"seconds"`
	Processor float64  `json:"processor"`
	Version   string   `json:"version"`
	Sums      []string `json:"sums"`
}

// clickhouse derives the rival's tables in ClickHouse from the facts of db, which also has the rival's tables. If the number of rows or
// the sum of a column differs, the error names the table.
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
		if err := execAll(b.ctx, db, duckStatements.Get("CopyParquet", "@query", duckStatements.Get(f.query), "@file", file)); err != nil {
			return answer, err
		}
		task.Prepare = append(task.Prepare, clickhouseStatements.Get("create_facts", "@table", f.table, "@columns", f.columns, "@order", f.order),
			clickhouseStatements.Get("copy_facts", "@table", f.table, "@columns", f.columns, "@file", file))
	}
	for _, name := range rivalMacros {
		task.Prepare = append(task.Prepare, clickhouseStatements.Get(name))
	}
	var whale int64
	if err := db.QueryRowContext(b.ctx, duckStatements.Get("WhaleMin")).Scan(&whale); err != nil {
		return answer, err
	}
	var wanted []string
	for _, table := range clickhouseTables() {
		ours, theirs, err := summaries(b.ctx, db, table)
		if err != nil {
			return answer, err
		}
		var want string
		if err := db.QueryRowContext(b.ctx, ours).Scan(&want); err != nil {
			return answer, fmt.Errorf("sums of %s: %w", table, err)
		}
		wanted = append(wanted, want)
		task.Timed = append(task.Timed, clickhouseStatements.Get("derive", "@table", table, "@keys", strings.Join(rollups.Keys(table), ", "),
			"@query", clickhouseStatement(table, asOf, whale)))
		task.Sums = append(task.Sums, theirs)
	}
	if answer, err = runClickHouse(b.ctx, b.Python, task); err != nil {
		return answer, err
	}
	for i, table := range clickhouseTables() {
		if got := answer.Sums[i]; got != wanted[i] {
			return answer, fmt.Errorf("ClickHouse's %s has rows and sums %s, the bare statements' %s", table, got, wanted[i])
		}
	}
	return answer, nil
}

// summaries returns a query for DuckDB and one for ClickHouse: for the number of rows of one of the rival's tables and the sum of each
// column; for a text column, the number of distinct texts.
func summaries(ctx context.Context, db *sql.DB, table string) (ours, theirs string, err error) {
	columns, err := columnsOf(ctx, db, "rival", table)
	if err != nil {
		return "", "", err
	}
	duck, click := []string{"count(*)"}, []string{"toString(count())"}
	for _, c := range columns {
		switch {
		case c.name == rivalNear[table]:
		case c.kind == "VARCHAR" || c.kind == "BLOB":
			duck, click = append(duck, "count(DISTINCT "+c.name+")"), append(click, "toString(uniqExact("+c.name+"))")
		default:
			duck, click = append(duck, "coalesce(SUM("+c.name+"::HUGEINT), 0)"), append(click, "toString(ifNull(sum(toInt128("+c.name+")), 0))")
		}
	}
	return duckStatements.Get("TableSums", "@sums", strings.Join(duck, ", "), "@table", table),
		clickhouseStatements.Get("table_sums", "@sums", strings.Join(click, ", "), "@table", table), nil
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
