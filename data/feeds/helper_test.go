package feeds_test

import (
	"context"
	"database/sql"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	_ "github.com/duckdb/duckdb-go/v2"

	"pmx/data"
	"pmx/data/feeds"
	"pmx/data/reference"
)

// rejected is one row that a feed could not use.
type rejected struct {
	Line           int64
	Reason, Detail string
}

// numbered is a fill with the number of its record.
type numbered struct {
	Row int64
	data.Fill
	Block int64
}

// collect is a sink that keeps everything.
type collect struct {
	fills       []numbered
	markets     []data.Market
	resolutions []data.Resolution
	tokens      []data.TokenRef
	blocks      []data.Block
	rejects     []rejected
	passed      map[data.Passed]int
	notes       map[string]int
	lines       []int64

	forecasts    []data.Forecast
	actuals      []data.Actual
	observations []data.Observation
	normals      []data.Normal
}

func (c *collect) Forecast(_ int64, f data.Forecast) error {
	c.forecasts = append(c.forecasts, f)
	return nil
}

func (c *collect) Actual(_ int64, a data.Actual) error { c.actuals = append(c.actuals, a); return nil }

func (c *collect) Observation(_ int64, o data.Observation) error {
	c.observations = append(c.observations, o)
	return nil
}

func (c *collect) Normal(_ int64, n data.Normal) error { c.normals = append(c.normals, n); return nil }

func (c *collect) Fill(line int64, f data.Fill) error {
	c.fills = append(c.fills, numbered{Row: line, Fill: f})
	return nil
}

func (c *collect) Market(line int64, m data.Market) error {
	c.markets, c.lines = append(c.markets, m), append(c.lines, line)
	if m.Resolution != nil {
		c.resolutions = append(c.resolutions, *m.Resolution)
	}
	return nil
}

func (c *collect) Resolution(_ int64, r data.Resolution) error {
	c.resolutions = append(c.resolutions, r)
	return nil
}

func (c *collect) Token(_ int64, t data.TokenRef) error { c.tokens = append(c.tokens, t); return nil }
func (c *collect) Block(_ int64, b data.Block) error    { c.blocks = append(c.blocks, b); return nil }

func (c *collect) Reject(line int64, reason, detail, _ string) error {
	c.rejects = append(c.rejects, rejected{line, reason, detail})
	return nil
}

func (c *collect) Pass(_ int64, why data.Passed) error {
	if c.passed == nil {
		c.passed = map[data.Passed]int{}
	}
	c.passed[why]++
	return nil
}

func (c *collect) Note(reason string) {
	if c.notes == nil {
		c.notes = map[string]int{}
	}
	c.notes[reason]++
}

func (c *collect) Lines(data.LineKind, int64) error { return nil }

func (c *collect) reasons() map[string]int {
	out := map[string]int{}
	for _, r := range c.rejects {
		out[r.Reason]++
	}
	return out
}

// read imports the file at path as the engine would: detect, then Read or Query.
func read(t testing.TB, path string) *collect {
	t.Helper()
	h, f := head(t, path)
	c, err := readAs(t, f, h, path)
	if err != nil {
		t.Fatalf("%s: %v", f.Name, err)
	}
	return c
}

func head(t testing.TB, path string) (data.Head, data.Feed) {
	t.Helper()
	h, err := feeds.ReadHead(path)
	if err != nil {
		t.Fatal(err)
	}
	f, err := feeds.Detect(h)
	if err != nil {
		t.Fatal(err)
	}
	return h, f
}

func readAs(t testing.TB, f data.Feed, h data.Head, path string) (*collect, error) {
	t.Helper()
	src := data.Source{Path: path, Name: path, Format: h.Format, Cities: reference.Gazetteer()}
	if info, err := os.Stat(path); err == nil {
		src.Size = info.Size()
	}
	c := &collect{}
	if f.Query != nil {
		return c, query(t, f, src, h, c)
	}
	r, err := feeds.Open(path)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	return c, f.Read(context.Background(), src, r, c)
}

// text writes content to a new file and returns its path.
func text(t testing.TB, name, content string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func openDB(t testing.TB) *sql.DB {
	t.Helper()
	db, err := sql.Open("duckdb", "")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	return db
}

// query runs the statements of a feed in a fresh DuckDB and checks the types of
// their columns against the contract.
func query(t testing.TB, f data.Feed, src data.Source, h data.Head, c *collect) error {
	q, err := f.Query(src, h)
	if err != nil {
		return err
	}
	db := openDB(t)
	if err := fillRows(t, db, q.Fills, c); err != nil {
		return err
	}
	joinsNothing(t, db, q.Fills)
	if q.Markets == "" {
		return nil
	}
	joinsNothing(t, db, q.Markets)
	return stubRows(t, db, q.Markets, c)
}

// joinsNothing checks that the plan of a statement reads the file without joins other than those in
// the statement: DuckDB plans IN with a long list as a join.
func joinsNothing(t testing.TB, db *sql.DB, stmt string) {
	t.Helper()
	var kind, plan string
	if err := db.QueryRow("EXPLAIN "+stmt).Scan(&kind, &plan); err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(plan, "_JOIN"); n > strings.Count(stmt, "IN (SELECT") {
		t.Errorf("%d joins in the plan of %s:\n%s", n, stmt, plan)
	}
}

func columnsOf(t testing.TB, rows *sql.Rows, want [][2]string) {
	t.Helper()
	types, err := rows.ColumnTypes()
	if err != nil {
		t.Fatal(err)
	}
	for i, w := range want {
		if i >= len(types) || types[i].Name() != w[0] || types[i].DatabaseTypeName() != w[1] {
			t.Fatalf("column %d is %s %s, want %s %s", i, types[i].Name(), types[i].DatabaseTypeName(), w[0], w[1])
		}
	}
	if len(types) != len(want) {
		t.Fatalf("%d columns, want %d", len(types), len(want))
	}
}

func fillRows(t testing.TB, db *sql.DB, stmt string, c *collect) error {
	rows, err := db.Query("SELECT * REPLACE (coalesce(row, row_number() OVER ()) AS row) FROM (" + stmt + ")")
	if err != nil {
		return fmt.Errorf("%w\n%s", err, stmt)
	}
	defer rows.Close()
	columnsOf(t, rows, data.FillColumns)
	for rows.Next() {
		var row int64
		var tx, wallet, condition []byte
		var logIndex, block, ts, role, outcome, side, shares, usd, fee sql.NullInt64
		var token, name, reject sql.NullString
		if err := rows.Scan(&row, &tx, &logIndex, &block, &ts, &wallet, &role, &token, &condition, &outcome, &side,
			&shares, &usd, &fee, &name, &reject); err != nil {
			return err
		}
		if reject.Valid {
			c.rejects = append(c.rejects, rejected{Line: row, Reason: reject.String})
			continue
		}
		n := numbered{Row: row, Block: block.Int64, Fill: data.Fill{TS: ts.Int64, Role: data.Role(role.Int64),
			LogIndex: data.NoIndex, TokenID: token.String, Side: data.Side(side.Int64), Shares: data.Micro(shares.Int64),
			USD: data.Micro(usd.Int64), Fee: data.Micro(fee.Int64), Outcome: data.NoIndex, Name: name.String}}
		copy(n.Tx[:], tx)
		copy(n.Wallet[:], wallet)
		copy(n.Condition[:], condition)
		if logIndex.Valid {
			n.LogIndex = int32(logIndex.Int64)
		}
		if outcome.Valid {
			n.Outcome = int(outcome.Int64)
		}
		c.fills = append(c.fills, n)
	}
	return rows.Err()
}

func stubRows(t testing.TB, db *sql.DB, stmt string, c *collect) error {
	rows, err := db.Query(stmt)
	if err != nil {
		return fmt.Errorf("%w\n%s", err, stmt)
	}
	defer rows.Close()
	columnsOf(t, rows, data.StubColumns)
	for rows.Next() {
		var condition []byte
		var outcome sql.NullInt64
		var token, label, question, slug, event, icon sql.NullString
		if err := rows.Scan(&condition, &token, &outcome, &label, &question, &slug, &event, &icon); err != nil {
			return err
		}
		m := data.Market{Question: question.String, Slug: slug.String, EventSlug: event.String, Icon: icon.String, Stub: true}
		copy(m.Condition[:], condition)
		ref := data.TokenRef{TokenID: token.String, Condition: m.Condition, Outcome: data.NoIndex, Label: label.String, Stub: true}
		if outcome.Valid {
			ref.Outcome = int(outcome.Int64)
		}
		if condition != nil {
			c.markets = append(c.markets, m)
		}
		c.tokens = append(c.tokens, ref)
	}
	return rows.Err()
}
