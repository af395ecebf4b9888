package rollups

import (
	"context"
	"database/sql"
	"fmt"

	"pmx/data"
)

// Check is one thing that verification proved or refuted.
type Check struct {
	Name   string `json:"name"`
	OK     bool   `json:"ok"`
	Rows   int64  `json:"rows"`             // rows compared or examined
	Bad    int64  `json:"bad"`              // rows that refute it
	Detail string `json:"detail,omitempty"` // what to do or where to look
}

// Verify proves the database in SQL: every rollup equals its definition over the
// facts row for row, no fill is there twice, sums agree across grains, and
// profits and losses of complete markets without fees cancel out. It changes
// nothing. cities are those of the weather desk, nil for the built-in ones. step is
// told the name of each check before it runs.
func Verify(ctx context.Context, conn *sql.Conn, cities *data.Gazetteer, step func(name string, done, of int)) ([]Check, error) {
	v := &verifier{ctx: ctx, conn: conn, cities: cities}
	defer v.drop()
	s, err := readState(ctx, conn)
	if err != nil {
		return nil, err
	}
	v.checks = append(v.checks, Check{Name: "rollups_current", OK: !s.stale,
		Detail: map[bool]string{true: "facts are in that the rollups lack: run pmx rebuild"}[s.stale]})
	if err := v.rebuilt(step); err != nil {
		return nil, err
	}
	for i, c := range assertions {
		if step != nil {
			step(c, len(tables)+i, len(tables)+len(assertions))
		}
		if err := v.assert(c); err != nil {
			return nil, fmt.Errorf("verify %s: %w", c, err)
		}
	}
	for _, area := range verticals() {
		if area.check == nil {
			continue
		}
		c, err := area.check(v)
		if err != nil {
			return nil, fmt.Errorf("verify %s: %w", c.Name, err)
		}
		v.checks = append(v.checks, c)
	}
	return v.checks, nil
}

const rebuiltSuffix = "_rebuilt"

// assertions name statements that give (rows examined, rows that refute).
var assertions = []string{"unique_fills", "unique_wallets", "unique_tokens", "unique_markets", "newest_quotes", "field_versions", "fitting_payouts", "settled_logs", "no_negative_spread", "labelled_tokens",
	"known_dimensions", "grain_sums", "grain_legs", "zero_sum_markets",
	"unique_forecasts", "unique_actuals", "unique_observations", "unique_normals", "exact_temperatures", "derived_normals"}

// verifier is one verification; ctx is that of the whole of it.
type verifier struct {
	ctx    context.Context
	conn   *sql.Conn
	cities *data.Gazetteer
	checks []Check
}

// rebuilt recomputes every rollup into temporary tables and compares.
func (v *verifier) rebuilt(step func(string, int, int)) error {
	b := &rebuilder{ctx: v.ctx, conn: v.conn, suffix: rebuiltSuffix}
	of := len(tables) + len(assertions)
	tell := func(name string, done, _ int) {
		if step != nil {
			step("rebuilt_"+name, done, of)
		}
	}
	return b.all(tell, func(t table, query string) error {
		if err := b.exec(statements.Get("KeepRows", "@table", t.rebuiltTable(), "@rows", t.counting(query))); err != nil {
			return err
		}
		return v.compare(t)
	}, func() error { return nil })
}

// rebuiltTable has the rows that verify computes from the facts.
func (t table) rebuiltTable() string { return t.name + rebuiltSuffix }

func (v *verifier) compare(t table) error {
	c := Check{Name: "rebuilt_" + t.name}
	query := statements.Get("CompareRows", "@table", t.rebuiltTable(), "@columns", t.columnList(), "@merged", t.merged(""), "@rebuilt", t.rows(t.rebuiltTable()))
	if err := v.conn.QueryRowContext(v.ctx, query).Scan(&c.Rows, &c.Bad); err != nil {
		return fmt.Errorf("compare %s: %w", t.name, err)
	}
	if c.OK = c.Bad == 0; !c.OK {
		c.Detail = "the incremental table differs from one computed from the facts: run pmx rebuild and keep a copy of the database"
	}
	v.checks = append(v.checks, c)
	return nil
}

func (v *verifier) assert(name string) error {
	c := Check{Name: name}
	if err := v.conn.QueryRowContext(v.ctx, statements.Get(name)).Scan(&c.Rows, &c.Bad); err != nil {
		return err
	}
	if c.OK = c.Bad == 0; !c.OK {
		c.Detail = refuted[name]
	}
	v.checks = append(v.checks, c)
	return nil
}

// refuted says what a failed assertion means.
var refuted = map[string]string{
	"unique_fills":       "a fill is there twice: restore a backup, or import into a fresh data directory",
	"unique_wallets":     "an address has two ids: restore a backup",
	"unique_tokens":      "a token has two ids: restore a backup",
	"unique_markets":     "a market has two ids: restore a backup",
	"newest_quotes":      "a market's quote is not its newest record's, or it has one though it is closed: import its description again",
	"field_versions":     "a field of a market is from a record newer than its newest: import its description again",
	"fitting_payouts":    "a market has not one payout for each outcome: import its description again",
	"settled_logs":       "a fill has a time of its block, or its log, that does not stand: import the file of the blocks again",
	"no_negative_spread": "a bid is above its ask: import the market's description again",
	"labelled_tokens":    "a token's outcome is not the one that its trades name: import the market's description again",

	"known_dimensions": "a fill names a wallet, token or market that is not there: restore a backup",
	"grain_sums":       "sums of the wallets' tables differ: run pmx rebuild",
	"grain_legs":       "sums of the tokens' tables differ: run pmx rebuild",
	"zero_sum_markets": "profits and losses of a complete market do not cancel out: a feed gave a wrong amount",

	"unique_forecasts":    "a forecast is there twice: restore a backup",
	"unique_actuals":      "a day's extreme is there twice: restore a backup",
	"unique_observations": "a station's temperature is there twice: restore a backup",
	"unique_normals":      "a normal is there twice: restore a backup",
	"exact_temperatures":  "a temperature is none that a file can have given: restore a backup",
	"derived_normals":     "normals differ from the reanalysis that they follow from: import a file of it again",
}

func (v *verifier) drop() {
	ctx := context.WithoutCancel(v.ctx)
	for _, t := range tables {
		_, _ = v.conn.ExecContext(ctx, statements.Get("DropTable", "@table", "temp."+t.rebuiltTable())) // freed with the connection otherwise
	}
}
