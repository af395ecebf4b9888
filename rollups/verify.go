package rollups

import (
	"context"
	"database/sql"
	"fmt"
	"strconv"

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

// Verify checks the database in SQL: every rollup equals its definition over the facts row by row,
// no fill is there twice, sums agree across grains, and profits and losses of complete markets
// without fees cancel out. It changes nothing. cities are those of the weather desk, nil for the
// built-in ones. step is called with the name of each check before it runs, and pause before each large statement; both may be nil.
func Verify(ctx context.Context, conn *sql.Conn, cities *data.Gazetteer, step func(name string, done, of int), pause func()) ([]Check, error) {
	return verifyAtOnce(ctx, conn, cities, 0, step, pause)
}

// verifyAtOnce is Verify with so many rows at once, 0 for as many as memory allows.
func verifyAtOnce(ctx context.Context, conn *sql.Conn, cities *data.Gazetteer, rows int64, step func(name string, done, of int), pause func()) ([]Check, error) {
	if pause == nil {
		pause = func() {}
	}
	if pulled, err := ReadPulled(ctx, conn); pulled != nil || err != nil {
		if err != nil {
			return nil, err
		}
		return verifyWithoutFills(ctx, conn, cities, pause)
	}
	p, err := newChunker(ctx, conn, rows)
	if err != nil {
		return nil, err
	}
	v := &verifier{ctx: ctx, conn: conn, cities: cities, chunker: p, pause: pause}
	defer v.drop()
	s, err := readProgress(ctx, conn)
	if err != nil {
		return nil, err
	}
	v.checks = append(v.checks, Check{Name: "rollups_current", OK: !s.stale,
		Detail: map[bool]string{true: "the rollups lack some of the facts: run pmx rebuild"}[s.stale]})
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
		v.pause()
		c, err := area.check(v)
		if err != nil {
			return nil, fmt.Errorf("verify %s: %w", c.Name, err)
		}
		v.checks = append(v.checks, c)
	}
	return v.checks, nil
}

const rebuiltSuffix = "_rebuilt"

// assertions name statements that return (rows examined, rows that refute).
var assertions = []string{"unique_fills", "unique_wallets", "unique_tokens", "unique_markets", "newest_quotes", "field_versions", "fitting_payouts", "settled_logs", "no_negative_spread", "labelled_tokens",
	"known_dimensions", "grain_sums", "grain_legs", "zero_sum_markets",
	"unique_forecasts", "unique_actuals", "unique_observations", "unique_normals", "exact_temperatures", "derived_normals"}

// verifier is one verification; ctx is that of the whole verification.
type verifier struct {
	ctx     context.Context
	conn    *sql.Conn
	cities  *data.Gazetteer
	chunker *chunker
	pause   func() // called before each large statement
	checks  []Check
	made    []string // statements that drop what it made
}

// rebuilt recomputes every rollup, chunk by chunk, and compares.
func (v *verifier) rebuilt(step func(string, int, int)) error {
	b := &rebuilder{ctx: v.ctx, conn: v.conn, suffix: rebuiltSuffix, chunker: v.chunker}
	of := len(tables) + len(assertions)
	tell := func(name string, done, _ int) {
		if step != nil {
			step("rebuilt_"+name, done, of)
		}
		v.pause()
	}
	return b.all(tell, func(t table, chunks []chunk) error { return v.compare(b, t, chunks) }, func() error { return nil })
}

// rebuiltTable names the rows that verify computed from the facts, for later rollups.
func (t table) rebuiltTable() string { return t.name + rebuiltSuffix }

// chunkTable has the computed rows of a range of keys.
const chunkTable = "chunk" + rebuiltSuffix

// readLater are the rollups that definitions of later ones read.
var readLater = map[string]bool{"position": true, "wallet_day": true, "token_day": true, "token_total": true, "platform_hour": true,
	"redemption": true, "whale_move": true}

// compare computes the chunks of rollup t and compares each with what is stored.
func (v *verifier) compare(b *rebuilder, t table, chunks []chunk) error {
	c := Check{Name: "rebuilt_" + t.name}
	for _, p := range chunks {
		v.pause()
		where, computed := "", t.counting(p.query)
		if !p.whole() { // in little memory its rows are computed first, and compared afterwards
			where = p.of(t.keys[0])
			if err := b.exec(statements.Get("KeepRows", "@table", chunkTable, "@rows", computed)); err != nil {
				return err
			}
			computed = t.rows(chunkTable)
			v.pause()
		}
		query := statements.Get("CompareRows", "@columns", t.columnList(), "@merged", t.merged(where), "@rebuilt", computed)
		var rows, bad int64
		if err := v.conn.QueryRowContext(v.ctx, query).Scan(&rows, &bad); err != nil {
			return fmt.Errorf("compare %s: %w", t.name, err)
		}
		c.Rows, c.Bad = c.Rows+rows, c.Bad+bad
	}
	if len(chunks) > 1 {
		if err := b.exec(statements.Get("DropTable", "@table", "temp."+chunkTable)); err != nil {
			return err
		}
	}
	if c.OK = c.Bad == 0; !c.OK {
		c.Detail = "the incremental table differs from one computed from the facts: run pmx rebuild and keep a copy of the database"
	}
	v.checks = append(v.checks, c)
	if readLater[t.name] {
		return v.keep(b, t, chunks, c.OK)
	}
	return nil
}

// keep leaves the computed rows of rollup t for later ones. If the stored rows are equal to them, they are a view of these, which takes no
// memory. Otherwise they are computed again.
func (v *verifier) keep(b *rebuilder, t table, chunks []chunk, equal bool) error {
	if equal {
		rows, err := t.current(v.ctx, v.conn)
		if err == nil {
			err = b.exec(statements.Get("ViewRows", "@table", t.rebuiltTable(), "@rows", t.counting(rows)))
		}
		if err == nil {
			v.made = append(v.made, statements.Get("DropView", "@table", "temp."+t.rebuiltTable()))
		}
		return err
	}
	none := statements.Get("RowsInRange", "@rows", t.rows(t.name), "@which", "false")
	if err := b.exec(statements.Get("KeepRows", "@table", t.rebuiltTable(), "@rows", none)); err != nil {
		return err
	}
	v.made = append(v.made, statements.Get("DropTable", "@table", "temp."+t.rebuiltTable()))
	for _, p := range chunks {
		v.pause()
		if err := b.into(t.rebuiltTable(), t.counting(p.query)); err != nil {
			return err
		}
	}
	return nil
}

func (v *verifier) assert(name string) error {
	c := Check{Name: name}
	queries, err := v.assertion(name)
	if err != nil {
		return err
	}
	for _, query := range queries {
		v.pause()
		var rows, bad int64
		if err := v.conn.QueryRowContext(v.ctx, query).Scan(&rows, &bad); err != nil {
			return err
		}
		c.Rows, c.Bad = c.Rows+rows, c.Bad+bad
	}
	if c.OK = c.Bad == 0; !c.OK {
		c.Detail = refuted[name]
	}
	v.checks = append(v.checks, c)
	return nil
}

// assertion returns the statements of an assertion, whose rows are summed: several if it groups all
// facts.
func (v *verifier) assertion(name string) (queries []string, err error) {
	switch name {
	case "unique_fills":
		return v.uniqueFills()
	case "zero_sum_markets":
		return []string{statements.Get(name)}, v.evenMarkets()
	}
	return []string{statements.Get(name)}, nil
}

// uniqueFills returns the statements that look for fills that are stored twice. Logs are divided by
// hash, which reads all of them for each chunk; rows without a log are divided by their hour, which reads only
// theirs.
func (v *verifier) uniqueFills() (queries []string, err error) {
	var logs int64
	if err := v.conn.QueryRowContext(v.ctx, statements.Get("LogCount")).Scan(&logs); err != nil {
		return nil, err
	}
	chunks := v.chunker.chunks(logs)
	for nth := range chunks {
		queries = append(queries, statements.Get("unique_logs", "@chunks", strconv.FormatInt(chunks, 10), "@nth", strconv.FormatInt(nth, 10)))
	}
	ranges, err := v.chunker.narrowRanges(statements.Get("KeysOf", "@key", hourOfFill, "@table", "(FROM fills WHERE log_index IS NULL)"))
	for _, r := range ranges {
		queries = append(queries, statements.Get("unique_rows", "@which", r.inHours()))
	}
	return queries, err
}

// evenMarkets makes the tables of zero_sum_markets. A match has one time, so matches are divided by hour.
func (v *verifier) evenMarkets() error {
	b := &rebuilder{ctx: v.ctx, conn: v.conn}
	for table, empty := range map[string]string{"even_market": "EvenMarketsEmpty", "one_sided": "OneSidedEmpty"} {
		if err := b.exec(statements.Get(empty)); err != nil {
			return err
		}
		v.made = append(v.made, statements.Get("DropTable", "@table", "temp."+table))
	}
	markets, err := v.chunker.ranges(statements.Get("KeysOf", "@key", eachMarket.key, "@table", eachMarket.table), 1)
	if err != nil {
		return err
	}
	for _, r := range markets {
		v.pause()
		if err := b.into("even_market", statements.Get("EvenMarkets", "@which", r.of("t.market"))); err != nil {
			return err
		}
	}
	hours, err := v.chunker.ranges(statements.Get("KeysOf", "@key", hourOfFill, "@table", "fills"), 1)
	if err != nil {
		return err
	}
	for _, r := range hours {
		v.pause()
		if err := b.into("one_sided", statements.Get("OneSided", "@when", r.inHours())); err != nil {
			return err
		}
	}
	return nil
}

// refuted says what a failed assertion means.
var refuted = map[string]string{
	"unique_fills":       "a fill is stored twice: restore a backup, or import into a fresh data directory",
	"unique_wallets":     "an address has two ids: restore a backup",
	"unique_tokens":      "a token has two ids: restore a backup",
	"unique_markets":     "a market has two ids: restore a backup",
	"newest_quotes":      "a market's quote is not its newest record's, or it has one though it is closed: import its description again",
	"field_versions":     "a field of a market is from a record newer than its newest: import its description again",
	"fitting_payouts":    "a market has not one payout for each outcome: import its description again",
	"settled_logs":       "a fill has a time of its block, or its log, that does not stand: import the file of the blocks again",
	"no_negative_spread": "a bid is above its ask: import the market's description again",
	"labelled_tokens":    "a token's outcome is not the one that its trades name: import the market's description again",

	"known_dimensions": "a fill names a wallet, token or market that does not exist: restore a backup",
	"grain_sums":       "sums of the wallets' tables differ: run pmx rebuild",
	"grain_legs":       "sums of the tokens' tables differ: run pmx rebuild",
	"zero_sum_markets": "profits and losses of a complete market do not cancel out: a feed gave a wrong amount",

	"unique_forecasts":    "a forecast is stored twice: restore a backup",
	"unique_actuals":      "a day's extreme is stored twice: restore a backup",
	"unique_observations": "a station's temperature is stored twice: restore a backup",
	"unique_normals":      "a normal is stored twice: restore a backup",
	"exact_temperatures":  "a temperature cannot have come from a file: restore a backup",
	"derived_normals":     "normals differ from the reanalysis that they follow from: import a file of it again",
}

func (v *verifier) drop() {
	ctx := context.WithoutCancel(v.ctx)
	for _, statement := range append(v.made, statements.Get("DropTable", "@table", "temp."+chunkTable)) {
		_, _ = v.conn.ExecContext(ctx, statement) // freed with the connection otherwise
	}
}
