package rollups

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"pmx/data"
	"pmx/engine"
)

// Rebuild recomputes every rollup from the facts, on conn, a writing connection of db without a transaction. Each is made as a table of
// its own, in a transaction of its own; the last transaction puts all of them in the place of the former bases and deltas. What a
// process that ended before has left, DropUnfinished drops. cities are those of the weather desk, nil for the built-in ones. step
// is called with the name of each rollup before it is built. ErrDiskFull: the disk has not enough room to begin, or too little in the end.
func Rebuild(ctx context.Context, db *engine.DB, conn *sql.Conn, cities *data.Gazetteer, step func(name string, done, of int)) error {
	return rebuildAtOnce(ctx, db, conn, cities, 0, step)
}

// rebuildAtOnce is Rebuild with so many rows at once, 0 for as many as memory allows.
func rebuildAtOnce(ctx context.Context, db *engine.DB, conn *sql.Conn, cities *data.Gazetteer, rows int64, step func(name string, done, of int)) error {
	s := &stretchSorter{db: db, most: rows}
	err := func() (err error) {
		defer func() { err = errors.Join(err, s.borrowed.GiveBack(context.WithoutCancel(ctx), conn)) }() // also after a panic
		return rebuildWith(ctx, db, conn, cities, rows, step, s)
	}()
	if err != nil && s.borrowed != nil && !s.made && engine.ShortOfMemory(err) { // the definitions need less at once
		err = rebuildWith(ctx, db, conn, cities, rows, step, nil)
	}
	return err
}

// rebuildWith rebuilds. What s makes, if it is not nil, is not made by its definition.
func rebuildWith(ctx context.Context, db *engine.DB, conn *sql.Conn, cities *data.Gazetteer, rows int64, step func(name string, done, of int), s *stretchSorter) (err error) {
	if _, err := DropUnfinished(ctx, conn); err != nil {
		return err
	}
	room, err := db.KeepRoom()
	if err != nil {
		return err
	}
	b := &rebuilder{ctx: ctx, conn: conn, suffix: newSuffix}
	defer func() {
		if err = room.ReleaseAfter(err); err != nil { // dropping tables needs some of it
			// After a fault of DuckDB neither may be possible; the next rebuild, or start, does it then.
			b.ctx = context.WithoutCancel(ctx)
			_ = b.dropTemporary()
			_, _ = DropUnfinished(b.ctx, conn)
		}
	}()
	if err := rebuildDesk(ctx, conn, cities); err != nil {
		return fmt.Errorf("weather desk: %w", err)
	}
	if b.chunker, err = newChunker(ctx, conn, rows); err != nil {
		return err
	}
	if s != nil {
		s.rebuilder = b
		b.gathered = s.rebuild
	}
	facts, err := FillCount(ctx, conn)
	if err != nil {
		return err
	}
	return b.all(step, b.storeNew, func() error { return b.finish(facts) })
}

// FillCount is how many fills there are.
func FillCount(ctx context.Context, conn *sql.Conn) (n int64, err error) {
	err = conn.QueryRowContext(ctx, statements.Get("FillCount")).Scan(&n)
	return n, err
}

// rebuilder computes each rollup from the facts; suffix names the tables that
// later rollups read earlier ones from. It lives for one rebuild, or verification, whose context it
// keeps.
type rebuilder struct {
	ctx     context.Context
	conn    *sql.Conn
	asOf    int64
	suffix  string
	chunker *chunker
	shared  bool // two tokens are mapped to one outcome
	// gathered makes a rollup from gathered facts instead of by its definition, and reports whether it did; nil: no rollup is.
	gathered func(t table) (done bool, err error)
}

// chunk is the definition of a rollup for a range of its first key.
type chunk struct {
	keyRange
	query string
}

func (b *rebuilder) all(step func(string, int, int), store func(table, []chunk) error, finish func() error) error {
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
		if err := b.build(t, store); err != nil {
			return fmt.Errorf("rebuild %s: %w", t.name, err)
		}
	}
	if err := b.dropTemporary(); err != nil {
		return err
	}
	return finish()
}

// dropTemporary drops what inputs made.
func (b *rebuilder) dropTemporary() error {
	temporary := []string{"held_all", "held_token", "held_leg", "w_redemption", "undated_after", "w_undated"}
	for _, v := range verticals() {
		temporary = append(temporary, v.temporary...)
	}
	for _, temp := range temporary {
		if err := b.exec(statements.Get("DropTable", "@table", temp)); err != nil {
			return err
		}
	}
	return nil
}

// build stores one rollup.
func (b *rebuilder) build(t table, store func(table, []chunk) error) error {
	if b.gathered != nil {
		if done, err := b.gathered(t); done || err != nil {
			return err
		}
	}
	chunks, err := b.chunks(t)
	if err != nil {
		return err
	}
	return store(t, chunks)
}

// inputs makes the temporary tables that rollup t and those after it read.
func (b *rebuilder) inputs(t table) error {
	switch t.name {
	case "market_wallets":
		return b.held()
	case "undated":
		return b.undated()
	case "wallet_window":
		if err := b.verticalHoldings(); err != nil {
			return err
		}
		if err := b.exec(statements.Get("DropTable", "@table", "held_all")); err != nil {
			return err
		}
		return b.windowInputs()
	}
	return b.verticalInputs(t)
}

// held makes held_all: what every wallet holds of each market, market by market.
func (b *rebuilder) held() error {
	for _, query := range []string{statements.Get("NoHoldings", "@when", "all"), statements.Get("HeldTokensAll")} {
		if err := b.exec(query); err != nil {
			return err
		}
	}
	var plain bool // all markets are
	if err := b.conn.QueryRowContext(b.ctx, statements.Get("HeldTokenKinds")).Scan(&b.shared, &plain); err != nil {
		return fmt.Errorf("HeldTokenKinds: %w", err)
	}
	positions := "position" + b.suffix
	ranges, err := b.chunker.ranges(statements.Get("MarketsOfPositions", "@positions", positions), 1)
	if err != nil {
		return err
	}
	among := make([]string, 0, len(ranges)+1)
	for _, r := range ranges {
		among = append(among, r.of("t.market"))
	}
	if len(ranges) > 1 {
		among = append(among, "t.market IS NULL") // tokens without a market are in no range
	}
	for _, which := range among {
		if err := b.into("held_all", statements.Get("HeldPlain", "@positions", positions, "@among", which)); err != nil {
			return err
		}
		if plain {
			continue
		}
		legs, err := b.heldLegs(positions, which)
		if err != nil {
			return err
		}
		if err := b.into("held_all", statements.Get("Holdings", "@legs", "("+legs+")")); err != nil {
			return err
		}
	}
	return nil
}

// heldLegs returns a query of the legs in markets that are not plain and meet the condition which.
func (b *rebuilder) heldLegs(positions, which string) (string, error) {
	alone := statements.Get("HeldLegsAlone", "@positions", positions, "@among", which)
	if !b.shared {
		return alone, nil
	}
	if err := b.exec(statements.Get("KeepRows", "@table", "held_leg", "@rows", alone)); err != nil {
		return "", err
	}
	return "FROM held_leg", b.into("held_leg", statements.Get("HeldLegsShared", "@positions", positions, "@among", which))
}

func (b *rebuilder) windowInputs() error {
	if err := b.exec(statements.Get("WindowsRedemptionEmpty")); err != nil {
		return err
	}
	for span, length := range windows {
		args := append(spanArgs(span, "1", b.asOf-length, b.asOf), "@redemption", "redemption"+b.suffix)
		if err := b.exec(statements.Get("RebuildWindowRedemption", args...)); err != nil {
			return err
		}
	}
	return b.exec(b.windowUndated())
}

// windowFills are the facts in the windows, once for each window.
func (b *rebuilder) windowFills() string {
	parts := make([]string, 0, len(windows))
	for span, length := range windows {
		parts = append(parts, statements.Get("WindowFills", spanArgs(span, "1", b.asOf-length, b.asOf)...))
	}
	return "(" + unionAll(parts) + ")"
}

func (b *rebuilder) exec(query string) error {
	_, err := b.conn.ExecContext(b.ctx, query)
	return err
}

// into appends the rows of a query to a table.
func (b *rebuilder) into(table, rows string) error {
	return b.exec(statements.Get("IntoTable", "@table", table, "@rows", rows))
}

// chunks are the definition of rollup t over the facts and over rollups built before it, one chunk
// for each range of keys.
func (b *rebuilder) chunks(t table) ([]chunk, error) {
	ranges, err := []keyRange{wholeRange}, error(nil)
	if of := t.by; of.table != "" {
		ranges, err = b.chunker.rangesBySource(of, b.suffix)
	}
	chunks := make([]chunk, 0, len(ranges))
	for _, r := range ranges {
		chunks = append(chunks, b.chunk(t, r))
	}
	return chunks, err
}

func (b *rebuilder) chunk(t table, r keyRange) chunk {
	query := t.typed(b.query(t, r))
	if !r.whole() {
		query = statements.Get("RowsInRange", "@rows", query, "@which", r.of(t.keys[0]))
	}
	return chunk{r, query}
}

// query is the definition of rollup t for a range of its first key; it may return rows outside the
// range, too.
func (b *rebuilder) query(t table, r keyRange) string {
	name, defined := t.rebuild, t.rebuild != ""
	if !defined {
		name = t.delta
	}
	days := "true"
	if t.by.firstDay != nil {
		days = r.days(t.by.firstDay).of("day")
	}
	text := statements.Get(name, "@among", r.of(t.keys[0]), "@indays", days, "@legs", statements.Get("Legs"),
		"@wallet_day", "wallet_day"+b.suffix, "@token_day", "token_day"+b.suffix,
		"@redeemed", statements.Get("WindowRedemption"), "@windowundated", statements.Get("WindowUndated"),
		"@suffix", b.suffix, "@held", contribution("1", "held_all"), "@price", priceKey(), "@paid", price("usd", "shares"), "@candlesredone", "", "@forecasts", b.allForecasts(r), "@ago", dayAgo(b.asOf))
	if !defined {
		which := "true"
		if t.by.unit > 0 {
			which = r.times(t.by.unit)
		}
		text = replaceWord(text, "n_fill", statements.Get("SignedFacts", "@which", which))
		text = replaceWord(text, "w_fill", b.windowFills())
	}
	return text
}
