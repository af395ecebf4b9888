package rollups

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strconv"

	"pmx/data"
	"pmx/engine"
)

// dayLength is a UTC day in µs.
const dayLength = 86_400_000_000

// windows are the lengths in µs of the rolling windows 0, 1 and 2.
var windows = [3]int64{dayLength, 7 * dayLength, 30 * dayLength}

// maxListedTokens is how many tokens are written out as a list, which zone maps can
// prune by; more are joined.
const maxListedTokens = 200

// rollupProgress says how far the rollups have come.
type rollupProgress struct {
	asOf  int64 // newest fill, unix µs
	stale bool  // the rollups lack facts: only a rebuild helps
	epoch int64
}

func readProgress(ctx context.Context, conn *sql.Conn) (s rollupProgress, err error) {
	err = conn.QueryRowContext(ctx, statements.Get("ReadState")).Scan(&s.asOf, &s.stale, &s.epoch)
	return s, err
}

// Merger brings rollups up to date batch by batch. The zero Merger asks the database for
// everything; after Warm it keeps in memory what would otherwise cost a scan of history. It is used
// by one goroutine at a time.
type Merger struct {
	// Cities are those of the weather desk; nil: the built-in ones.
	Cities *data.Gazetteer
	// Live follows every merge, with the same cities: as long as it has, the tokens of small batches are looked up there. nil: none does.
	Live     *Live
	pairs    tradedPairs
	lastDays lastTradeDays
	leaving  leavingFills
	// epoch is the epoch of the rollups that the memory belongs to; next is the one that the
	// current merge leads to. At any other epoch the memory is useless.
	epoch, next int64
	added       Added
	// byStatements makes every batch be summed up by statements, as large ones are.
	byStatements bool
	mostHeld     int // overrides the constant of this name; 0: does not
}

// Added is what the last Merge added to the rollups, for Live.
type Added struct {
	epoch int64      // of the rollups with it
	sums  *batchSums // nil: all of it is in temporary tables
}

// Added returns it once, because it may take some megabytes.
func (g *Merger) Added() (a Added) {
	a, g.added = g.added, Added{}
	return a
}

// Warm loads what a Merger keeps in memory.
func (g *Merger) Warm(ctx context.Context, conn *sql.Conn) error {
	s, err := readProgress(ctx, conn)
	if err != nil {
		return err
	}
	g.epoch, g.leaving = s.epoch, leavingFills{}
	return errors.Join(g.pairs.load(ctx, conn), g.lastDays.load(ctx, conn))
}

// Warmed reports whether everything that a Merger can keep in memory is loaded.
func (g *Merger) Warmed() bool { return g.pairs.loaded && g.lastDays.loaded }

// Committed tells the Merger that its last Merge was committed.
func (g *Merger) Committed() {
	g.pairs.commit()
	g.lastDays.commit()
	g.epoch = g.next
}

// Merge brings all rollups up to date with the batch in the temporary tables n_fill, n_token and
// n_payout, inside the caller's transaction. apply adds the batch to the facts and dimensions; it
// is called once, between reading the state before and the state after. If the rollups are stale
// already, only apply runs.
func (g *Merger) Merge(ctx context.Context, conn *sql.Conn, apply func() error) error {
	g.pairs.rollback() // left by a merge that was rolled back
	g.lastDays.rollback()
	g.added = Added{}
	m := &merge{ctx: ctx, conn: conn, pairs: &g.pairs, lastDays: &g.lastDays, leaving: &g.leaving, cities: g.Cities, byStatements: g.byStatements,
		mostHeld: cmp.Or(g.mostHeld, mostHeld)}
	s, err := readProgress(ctx, conn)
	if err != nil {
		return err
	}
	if s.stale {
		return g.Postpone(ctx, conn, apply)
	}
	if g.epoch != s.epoch { // a commit or a rebuild was missed
		g.pairs, g.lastDays, g.leaving = tradedPairs{}, lastTradeDays{}, leavingFills{}
		g.epoch = s.epoch
	}
	g.next = s.epoch + 1
	m.from = s.asOf
	if g.Live.isAt(s.epoch) {
		m.live = g.Live
	}
	if err := m.before(); err != nil {
		return fmt.Errorf("merge: value what was: %w", err)
	}
	if m.sums == nil && m.fills > 0 { // it may change facts that were read
		g.leaving = leavingFills{}
	}
	if err := apply(); err != nil {
		return err
	}
	if err := m.after(); err != nil {
		return fmt.Errorf("merge: value what is: %w", err)
	}
	g.added = Added{epoch: g.next, sums: m.sums}
	return nil
}

// Postpone is Merge for a batch so large that a rebuild is cheaper: it applies
// the batch and marks the rollups stale.
func (g *Merger) Postpone(ctx context.Context, conn *sql.Conn, apply func() error) error {
	g.leaving = leavingFills{}
	m := &merge{ctx: ctx, conn: conn}
	if err := conn.QueryRowContext(ctx, statements.Get("NewestFill")).Scan(&m.from); err != nil {
		return err
	}
	if err := m.exec("NoteLateDays", "@from", strconv.FormatInt(m.from, 10)); err != nil {
		return err
	}
	if err := apply(); err != nil {
		return err
	}
	return m.exec("MarkStale")
}

// merge is the merge of one batch; ctx is that of the whole merge.
type merge struct {
	ctx            context.Context
	conn           *sql.Conn
	pairs          *tradedPairs
	lastDays       *lastTradeDays
	leaving        *leavingFills
	cities         *data.Gazetteer
	live           *Live      // has the state before the batch; nil: unknown
	from, to       int64      // as_of before and after, unix µs
	fills          int64      // rows of n_fill
	oldest         int64      // time of the oldest of them, unix µs, 0 without one
	newest         int64      // of the newest
	replaced       int64      // fills of takers that are replaced
	described      int64      // markets that are new or changed
	resolved       int64      // markets whose payouts change
	issued         int64      // forecasts of the weather that are new
	whaleLeast     data.Micro // smallest order in dollars that is a whale move
	indexStored    int32      // the last bucket of the stored snapshots of the index
	days           int64      // days and wallets in d_day
	firsts         int64      // pairs in d_pair
	redeemed       int64      // rows of w_redemption
	undatedMoves   bool       // whether undated changes, or which part of it is in which window
	touched        int64      // how many tokens' holders are revalued
	touchedTokens  string     // these, as few or listed gives them
	touchedMarkets string     // and their markets, if summed up in memory
	mostHeld       int        // how many positions are valued in memory
	moved          int64      // known tokens that are now mapped elsewhere
	regroups       bool       // whether events may lose or gain markets or tokens
	byStatements   bool
	sums           *batchSums // what the batch adds; nil if statements sum it up
}

func (m *merge) exec(name string, replace ...string) error {
	return execNamed(m.ctx, m.conn, name, replace...)
}

// execNamed runs a statement by its name, which its error mentions.
func execNamed(ctx context.Context, conn *sql.Conn, name string, replace ...string) error {
	if _, err := conn.ExecContext(ctx, statements.Get(name, replace...)); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	return nil
}

// before reads everything that depends on the state without the batch.
func (m *merge) before() error {
	if err := m.readSizes(); err != nil {
		return fmt.Errorf("size of the batch: %w", err)
	}
	m.to = max(m.from, m.newest)
	if err := m.sumUp(); err != nil {
		return fmt.Errorf("BatchFills: %w", err)
	}
	if err := m.touch(); err != nil {
		return err
	}
	if m.sums == nil {
		if err := m.held("before"); err != nil {
			return err
		}
	}
	if err := m.newPairs(); err != nil {
		return err
	}
	if err := m.newDays(); err != nil {
		return err
	}
	if m.sums == nil {
		for _, name := range []string{"WindowsEmpty", "WindowsRedemptionEmpty"} {
			if err := m.exec(name); err != nil {
				return err
			}
		}
	}
	if err := m.each(func(v vertical) func(*merge) error { return v.before }); err != nil {
		return err
	}
	return m.moveWindows()
}

// sizeRow says how many rows of each kind a batch has, and figures to compare it with.
type sizeRow struct {
	What     string `sql:"what"`
	N        int64  `sql:"n"`
	Oldest   int64  `sql:"oldest"` // of fills, unix µs
	Newest   int64  `sql:"newest"`
	Replaced int64  `sql:"replaced"` // fills of takers that are replaced
}

// readSizes reads what the batch has. A figure that is missing or there twice is an error.
func (m *merge) readSizes() error {
	sizes := map[string]sizeRow{}
	if err := engine.EachRow(m.ctx, m.conn, statements.Get("BatchSizes"), func(r *sizeRow) error {
		if _, twice := sizes[r.What]; twice {
			return fmt.Errorf("%s: more than one row", r.What)
		}
		sizes[r.What] = *r
		return nil
	}); err != nil {
		return err
	}
	for _, what := range []string{"fills", "tokens", "markets", "payouts", "forecasts", "whale rule", "index"} {
		if _, ok := sizes[what]; !ok {
			return fmt.Errorf("%s: no row", what)
		}
	}
	fills := sizes["fills"]
	m.fills, m.oldest, m.newest, m.replaced = fills.N, fills.Oldest, fills.Newest, fills.Replaced
	m.moved, m.described, m.resolved, m.issued = sizes["tokens"].N, sizes["markets"].N, sizes["payouts"].N, sizes["forecasts"].N
	m.whaleLeast, m.indexStored = data.Micro(sizes["whale rule"].N), int32(sizes["index"].N)
	return nil
}

// has reports whether the batch has any of the sources.
func (m *merge) has(any batchKind) bool {
	return any&withFills != 0 && m.fills > 0 || any&withHolders != 0 && m.touched > 0 ||
		any&withMarkets != 0 && m.moved+m.described > 0
}

// statementIf is a statement, "" if there is nothing for it to read.
func statementIf(anything bool, name string, replace ...string) string {
	if !anything {
		return ""
	}
	return statements.Get(name, replace...)
}

// traded makes n_traded, the tokens of the batch's fills.
func (m *merge) traded() error {
	rows := "Traded"
	if m.fills == 0 {
		rows = "TradedNone"
	}
	_, err := m.keep("n_traded", statements.Get(rows))
	return err
}

// touch finds what the batch trades, and the tokens whose holders are revalued.
func (m *merge) touch() error {
	if m.sums != nil {
		if err := m.readTraded(); err != nil {
			return fmt.Errorf("TradedTokens: %w", err)
		}
		few, err := m.readHeld()
		if few || err != nil {
			return err
		}
		m.sums = nil
	}
	if err := m.traded(); err != nil {
		return err
	}
	var any bool
	if err := m.conn.QueryRowContext(m.ctx, statements.Get("TradedResolved")).Scan(&any); err != nil {
		return err
	}
	mapped := statementIf(m.moved+m.resolved > 0, "TouchedByMarkets")
	rows := statements.Get("Touched", "@mapped", mapped)
	if mapped == "" && !any {
		rows = statements.Get("NothingTouched")
	}
	var err error
	if m.touched, err = m.keep("touched", rows); err != nil || m.touched == 0 {
		return err
	}
	m.touchedTokens, _, err = m.few(statements.Get("TouchedTokens"))
	return err
}

// keep makes a temporary table of a query, and reports how many rows it has.
func (m *merge) keep(table, rows string) (n int64, err error) {
	query := statements.Get("KeepRows", "@table", table, "@rows", rows)
	if err := m.conn.QueryRowContext(m.ctx, query).Scan(&n); err != nil { // as a command it says nothing of rows
		return 0, fmt.Errorf("%s: %w", table, err)
	}
	return n, nil
}

// few returns the tokens of a query, written out if they are few, else as the query; n is how many
// there are, or just above the limit.
func (m *merge) few(which string) (tokens string, n int, err error) {
	var list sql.NullString
	query := statements.Get("FewTokens", "@which", which, "@most", strconv.Itoa(maxListedTokens+1))
	if err := m.conn.QueryRowContext(m.ctx, query).Scan(&n, &list); err != nil {
		return "", 0, err
	}
	if n == 0 || n > maxListedTokens {
		return which, n, nil
	}
	return list.String, n, nil
}

// oneOf is the condition that the token in a column is one of which, as few gave them.
func oneOf(column, which string) string {
	if which != "" && which[0] >= '0' && which[0] <= '9' {
		return statements.Get("OneOf", "@token", column, "@which", which)
	}
	return column + " IN (" + which + ")"
}

// newPairs finds first trades of a wallet in a market: in memory if that is loaded and no token
// moves from one market to another.
func (m *merge) newPairs() (err error) {
	if m.sums != nil {
		m.sums.findPairs(m.pairs)
		return nil
	}
	if m.pairs.loaded && m.moved > 0 {
		var remapped int64
		if err := m.conn.QueryRowContext(m.ctx, statements.Get("MovedTokens")).Scan(&remapped); err != nil {
			return err
		}
		if remapped > 0 {
			*m.pairs = tradedPairs{}
		}
	}
	if m.pairs.loaded {
		m.firsts, err = m.pairs.newPairs(m.ctx, m.conn, m.fills > 0)
		return err
	}
	m.firsts, err = m.keep("d_pair", statements.Get("NewPairs"))
	return err
}

// held values the holdings of touched tokens: leg_<when> by outcome, held_<when>
// by market. The positions are read once, into n_held.
func (m *merge) held(when string) error {
	if m.touched == 0 {
		return m.exec("NoHoldings", "@when", when)
	}
	positions := "n_held"
	if when == "after" {
		positions = statements.Get("HoldingsWithBatch", "@held", positions, "@batch", "d_position")
	} else if _, err := m.keep(positions, statements.Get("HoldingsOfTouched", "@among", oneOf("token", m.touchedTokens))); err != nil {
		return err
	}
	legs := statements.Get("HeldLegs", "@positions", positions, "@among", oneOf("t.token", m.touchedTokens))
	if err := m.exec("KeepRows", "@table", "leg_"+when, "@rows", legs); err != nil {
		return fmt.Errorf("held_%s: %w", when, err)
	}
	return m.exec("KeepRows", "@table", "held_"+when, "@rows", statements.Get("Holdings", "@legs", "leg_"+when))
}

// after computes what the batch adds to every rollup and appends it to its delta.
func (m *merge) after() error {
	if m.fills > 0 && m.moved+m.described+m.resolved > 0 && m.sums == nil { // tokens are now mapped as the batch says
		if err := m.traded(); err != nil {
			return err
		}
	}
	for _, t := range tables {
		if err := m.inputs(t); err != nil {
			return fmt.Errorf("%s: inputs: %w", t.name, err)
		}
		if err := m.append(t); err != nil {
			return fmt.Errorf("%s: %w", t.name, err)
		}
		if t.name == "position" { // holdings now include the batch's positions
			if err := m.revalue(); err != nil {
				return err
			}
		}
	}
	return m.exec("AdvanceState", "@to", strconv.FormatInt(m.to, 10))
}

// inputs makes the temporary tables that the delta of t and those after it read.
func (m *merge) inputs(t table) error {
	switch t.name {
	case "undated":
		return m.undated()
	case "wallet_window":
		return m.batchRedemption()
	}
	return nil
}

// revalue makes the temporary tables that the deltas after the positions read.
func (m *merge) revalue() (err error) {
	if m.sums != nil {
		err = m.revalueHeld()
	} else {
		err = m.held("after")
	}
	if err == nil && m.sums == nil && m.pairs.loaded && m.touched > 0 {
		err = m.pairs.revalued(m.ctx, m.conn)
	}
	if err != nil {
		return err
	}
	return m.each(func(v vertical) func(*merge) error { return v.after })
}

// append leaves the delta of one rollup in the temporary table d_<name>, for Live if it reads the
// rollup, and appends it to the rollup's delta.
func (m *merge) append(t table) error {
	if m.sums != nil && inSums[t.name] != nil {
		return inSums[t.name](m, t)
	}
	if t.with != 0 && !m.has(t.with) || t.name == "undated" && !m.undatedMoves {
		if t.unread || m.sums != nil {
			return nil
		}
		return m.exec("NothingAdded", "@table", t.name, "@delta", t.deltaTable())
	}
	parts := []string{"@legs", statements.Get("Legs"), "@price", priceKey(), "@paid", price("usd", "shares"),
		"@candlesredone", statementIf(m.replaced > 0, "CandlesRedone"), "@ago", dayAgo(m.to), "@undated", m.replacedUndated(),
		"@activedays", statementIf(m.days > 0, "NewDaysOfAll"), "@newdays", statementIf(m.days > 0, "NewDaysOfWallets"),
		"@newpairs", statementIf(m.firsts > 0, "NewPairsOfWallets"), "@redeemed", statementIf(m.redeemed > 0, "WindowRedemption"),
		"@windowundated", statementIf(m.undatedMoves, "WindowUndated"), "@heldmarkets", statementIf(m.touched > 0, "HeldByMarket"),
		"@heldwallets", statementIf(m.touched > 0, "HeldOfWallets", "@after", contribution("1", "held_after"), "@before", contribution("-1", "held_before")),
		"@untouched", statementIf(m.touched > 0, "NotTouched"),
		"@movedtokens", statementIf(m.has(withMarkets), "IndexMovedTokens"), "@movedflow", statementIf(m.has(withMarkets), "IndexMovedSums")}
	rows := t.counting(t.typed(statements.Get(t.delta, parts...)))
	if t.unread {
		return m.exec("AppendRows", "@delta", t.deltaTable(), "@rows", rows)
	}
	n, err := m.keep(t.batchTable(), rows)
	if err != nil || n == 0 {
		return err
	}
	return m.exec("AppendDelta", "@delta", t.deltaTable(), "@table", t.batchTable())
}

func contribution(sign, held string) string {
	return statements.Get("HeldContribution", "@sign", sign, "@held", held)
}
