package rollups

import (
	"context"
	"database/sql"
	"fmt"
	"strconv"

	"pmx/data"
	"pmx/engine"
)

// Rebuild recomputes every rollup from the facts in one transaction, replacing
// bases and deltas. cities are those of the weather desk, nil for the built-in ones.
// step is given the name of each rollup before it is built.
func Rebuild(ctx context.Context, conn *sql.Conn, cities *data.Gazetteer, step func(name string, done, of int)) error {
	return engine.InTx(ctx, conn, func() error {
		if err := (&desk{ctx: ctx, conn: conn, cities: cities}).rebuild(); err != nil {
			return fmt.Errorf("weather desk: %w", err)
		}
		b := &rebuilder{ctx: ctx, conn: conn, suffix: ""}
		return b.all(step, func(t table, query string) error { return t.replace(ctx, conn, query) }, func() error {
			_, err := conn.ExecContext(ctx, statements.Get("FinishRebuild", "@to", strconv.FormatInt(b.asOf, 10)))
			for _, v := range verticals() {
				if err == nil && v.rebuilt != nil {
					err = v.rebuilt(b)
				}
			}
			return err
		})
	})
}

// rebuilder computes each rollup from the facts; suffix names the tables that
// later rollups read earlier ones from. It lives for one rebuild, or verification, whose context it
// keeps.
type rebuilder struct {
	ctx    context.Context
	conn   *sql.Conn
	asOf   int64
	suffix string
}

func (b *rebuilder) all(step func(string, int, int), store func(table, string) error, finish func() error) error {
	if err := b.conn.QueryRowContext(b.ctx, statements.Get("NewestFill")).Scan(&b.asOf); err != nil {
		return err
	}
	for i, t := range tables {
		if step != nil {
			step(t.name, i, len(tables))
		}
		if err := b.inputs(t); err != nil {
			return fmt.Errorf("rebuild %s: inputs: %w", t.name, err)
		}
		if err := store(t, t.typed(b.query(t))); err != nil {
			return fmt.Errorf("rebuild %s: %w", t.name, err)
		}
	}
	temporary := []string{"held_all", "w_fill", "w_redemption", "undated_after", "w_undated"}
	for _, v := range verticals() {
		temporary = append(temporary, v.temporary...)
	}
	for _, temp := range temporary {
		if err := b.exec(statements.Get("DropTable", "@table", temp)); err != nil {
			return err
		}
	}
	return finish()
}

// inputs makes the temporary tables that rollup t and those after it read.
func (b *rebuilder) inputs(t table) error {
	switch t.name {
	case "market_wallets":
		legs := statements.Get("HeldLegs", "@positions", "position"+b.suffix, "@among", "true")
		holdings := statements.Get("Holdings", "@legs", "("+legs+")")
		return b.exec(statements.Get("RebuildHeld", "@holdings", holdings))
	case "undated":
		return b.undated()
	case "wallet_window":
		if err := b.exec(statements.Get("DropTable", "@table", "held_all")); err != nil {
			return err
		}
		return b.windowInputs()
	}
	return b.verticalInputs(t)
}

func (b *rebuilder) windowInputs() error {
	for _, name := range []string{"WindowsEmpty", "WindowsRedemptionEmpty"} {
		if err := b.exec(statements.Get(name)); err != nil {
			return err
		}
	}
	for span, length := range windows {
		args := append(spanArgs(span, "1", b.asOf-length, b.asOf), "@redemption", "redemption"+b.suffix)
		for _, query := range []string{statements.Get("IntoWindows", "@rows", statements.Get("WindowFills", args...)),
			statements.Get("RebuildWindowRedemption", args...)} {
			if err := b.exec(query); err != nil {
				return err
			}
		}
	}
	return b.exec(b.windowUndated())
}

func (b *rebuilder) exec(query string) error {
	_, err := b.conn.ExecContext(b.ctx, query)
	return err
}

// query is the definition of rollup t over the facts and over rollups built
// before it.
func (b *rebuilder) query(t table) string {
	name, defined := t.rebuild, t.rebuild != ""
	if !defined {
		name = t.delta
	}
	text := statements.Get(name, "@legs", statements.Get("Legs"),
		"@wallet_day", "wallet_day"+b.suffix, "@token_day", "token_day"+b.suffix,
		"@redeemed", statements.Get("WindowRedemption"), "@windowundated", statements.Get("WindowUndated"),
		"@suffix", b.suffix, "@held", contribution("1", "held_all"), "@price", priceKey(), "@ago", dayAgo(b.asOf), "@events", marketEvents("true"))
	if !defined {
		text = replaceWord(text, "n_fill", statements.Get("SignedFacts"))
	}
	return text
}
