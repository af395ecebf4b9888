package rollups

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"pmx/data"
	"pmx/engine"
)

// Pulled describes a database with rollups that another engine computed from a lake, and no fills.
type Pulled struct {
	Lake    string    `json:"lake"`    // SHA-256 of the manifest of the lake
	Rollups string    `json:"rollups"` // SHA-256 of the manifest of the rollups
	Fills   int64     `json:"fills"`   // in the lake
	At      time.Time `json:"at"`
}

// ReadPulled reports what a database was pulled from, nil if it has facts of its own.
func ReadPulled(ctx context.Context, conn *sql.Conn) (*Pulled, error) {
	p := &Pulled{}
	var at int64
	err := conn.QueryRowContext(ctx, statements.Get("PulledFrom")).Scan(&p.Lake, &p.Rollups, &p.Fills, &at)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, nil
	}
	p.At = time.UnixMicro(at).UTC()
	return p, err
}

// spansOf are the spans, first and last time, whose fills are needed because what is served sums them up directly: the
// served hours, the last 24 hours, and the rest of each day in which a long window begins.
func spansOf(asOf int64) (spans [][2]int64) {
	for _, length := range longWindows {
		lo := asOf - length
		spans = append(spans, [2]int64{lo + 1, (lo/dayLength+1)*dayLength - 1})
	}
	return append(spans, [2]int64{min(asOf-dayLength, (asOf/hourLength-keptHours)*hourLength), asOf})
}

// NeedsFills reports whether fills of a day, since 1970, are needed of a lake whose newest fill is at
// asOf.
func NeedsFills(day, asOf int64) bool {
	for _, s := range spansOf(asOf) {
		if day >= s[0]/dayLength && day <= s[1]/dayLength {
			return true
		}
	}
	return false
}

// PullSource is what to put into a database: the files of published rollups by table and of the lake's wallets, tokens and
// some fills, as lists of SQL texts, and how many rows each rollup must have. A rollup without rows may have no file.
type PullSource struct {
	Record          Pulled
	AsOf, WhaleMin  int64 // unix µs; millionths
	Wallets, Tokens string
	Fills           string // of the days that NeedsFills names
	Rollups         map[string]string
	Rows            map[string]int64
}

// Pull puts published rollups into a database that has the lake's markets and weather, and nothing else, in one transaction.
// It is refused if a rollup is missing, has another number of rows, or names something that the lake does not have.
func Pull(ctx context.Context, conn *sql.Conn, src PullSource, step func(name string, done, of int)) error {
	return engine.InTx(ctx, conn, func() error {
		p := &pull{ctx: ctx, conn: conn, src: src}
		if err := p.names(); err != nil {
			return err
		}
		for i, t := range tables {
			if step != nil {
				step("pull "+t.name, i, len(tables))
			}
			if err := p.table(t); err != nil {
				return fmt.Errorf("pull %s: %w", t.name, err)
			}
		}
		return p.finish()
	})
}

// pull is one call of Pull, whose context it keeps.
type pull struct {
	ctx  context.Context
	conn *sql.Conn
	src  PullSource
}

func (p *pull) exec(name string, replace ...string) error {
	return execNamed(p.ctx, p.conn, name, replace...)
}

// names gives wallets and tokens their ids.
func (p *pull) names() error {
	for _, s := range []struct{ name, files string }{{"PullWallets", p.src.Wallets}, {"PullNames", p.src.Wallets}, {"PullTokens", p.src.Tokens}} {
		if err := p.exec(s.name, "@files", s.files); err != nil {
			return err
		}
	}
	var lost, desk int64
	if err := p.conn.QueryRowContext(p.ctx, statements.Get("PulledTokensDiffer")).Scan(&lost, &desk); err != nil {
		return err
	}
	if lost > 0 {
		return fmt.Errorf("%d tokens differ between the lake's tokens and its markets: export the lake again", lost)
	}
	if desk > 0 {
		return fmt.Errorf("%d tokens are in the weather desk in the lake and not here, or the reverse: the cities of the weather desk differ", desk)
	}
	return errors.Join(p.exec("ForgetTokens"), p.exec("PullMappings"), p.exec("DropTable", "@table", "pulled_tokens"))
}

// table fills one rollup.
func (p *pull) table(t table) error {
	files := p.src.Rollups[t.name]
	want, there := p.src.Rows[t.name]
	if !there {
		return errors.New("was not published")
	}
	if err := t.empty(p.ctx, p.conn); err != nil {
		return err
	}
	if files == "" && want == 0 {
		return nil
	}
	var rows int64
	if err := p.conn.QueryRowContext(p.ctx, statements.Get("PulledCount", "@files", files)).Scan(&rows); err != nil {
		return err
	}
	if rows != want {
		return fmt.Errorf("has %d rows, and the manifest says %d", rows, want)
	}
	published := statements.Get("PulledRows", "@files", files)
	err := p.exec("PullRollup", "@table", t.name, "@stored", t.stored(), "@order", t.orderList(), "@rows", t.typed(t.published(published)))
	if err == nil && t.name == "position" {
		err = p.exec("PullPositions", "@files", files)
	}
	if err != nil {
		return fmt.Errorf("it does not fit the lake's wallets, tokens and markets: %w", err)
	}
	return nil
}

// finish stores the as_of of the rollups and their origin.
func (p *pull) finish() error {
	whole := func(n int64) string { return strconv.FormatInt(n, 10) }
	r := p.src.Record
	said := []string{"@asof", whole(p.src.AsOf), "@min", whole(p.src.WhaleMin), "@lake", r.Lake, "@rollups", r.Rollups, "@count", whole(r.Fills), "@made", whole(r.At.UnixMicro())}
	var spans []string
	for _, s := range spansOf(p.src.AsOf) {
		spans = append(spans, fmt.Sprintf("us BETWEEN %d AND %d", s[0], s[1]))
	}
	if err := p.exec("PullFills", "@files", p.src.Fills, "@which", strings.Join(spans, " OR ")); err != nil {
		return err
	}
	for _, name := range []string{"PullDone", "PullWhale", "PullRecord", "PullLog"} {
		if err := p.exec(name, said...); err != nil {
			return err
		}
	}
	checks, err := verifyPulled(p.ctx, p.conn)
	for _, c := range checks {
		if err == nil && !c.OK {
			err = fmt.Errorf("%s: %s", c.Name, c.Detail)
		}
	}
	return err
}

// pulledAssertions are the assertions that hold without fills.
var pulledAssertions = []string{"unique_wallets", "unique_tokens", "unique_markets", "newest_quotes", "field_versions", "fitting_payouts", "labelled_tokens",
	"unique_forecasts", "unique_actuals", "unique_observations", "unique_normals", "exact_temperatures", "derived_normals"}

// verifyPulled verifies that the rollups of a database without fills agree with each other. Whether they follow from the
// fills can only be verified where the fills are.
func verifyPulled(ctx context.Context, conn *sql.Conn) (checks []Check, err error) {
	for _, c := range []struct{ name, query, detail string }{
		{"pulled_fills", "VerifyPulled", "the rollups do not agree on how many fills there are: pull them again"},
		{"pulled_days", "VerifyPulledDays", "the days of wallets and of tokens do not agree: pull them again"},
	} {
		check := Check{Name: c.name, Detail: c.detail}
		if err := conn.QueryRowContext(ctx, statements.Get(c.query)).Scan(&check.Rows, &check.Bad); err != nil {
			return nil, fmt.Errorf("%s: %w", c.name, err)
		}
		check.OK = check.Bad == 0
		checks = append(checks, check)
	}
	var facts int64
	err = conn.QueryRowContext(ctx, statements.Get("VerifyPulledFacts")).Scan(&facts)
	return append(checks, Check{Name: "pulled_only", OK: facts == 0, Rows: 1, Bad: abs01(facts > 0), Detail: "fills are there that no rollup knows of"}), err
}

// verifyWithoutFills is Verify of a database that was pulled.
func verifyWithoutFills(ctx context.Context, conn *sql.Conn, cities *data.Gazetteer, pause func()) ([]Check, error) {
	checks, err := verifyPulled(ctx, conn)
	if err != nil {
		return nil, err
	}
	v := &verifier{ctx: ctx, conn: conn, cities: cities, checks: checks, pause: pause}
	for _, c := range pulledAssertions {
		if err := v.assert(c); err != nil {
			return nil, fmt.Errorf("verify %s: %w", c, err)
		}
	}
	return v.checks, nil
}
