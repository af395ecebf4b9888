package rollups

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"pmx/data"
	"pmx/engine"
)

// mostAdvanced is how many new fills the served state is advanced by at most: with more, everything
// is read again.
const mostAdvanced = 500_000

// Served is the state being served, as its successor sees it.
type Served struct {
	File string // its database file, which nobody changes
	// Unchanged reports whether a range of bytes, at an offset after the file's head, is equal in both database files.
	Unchanged func(at, size int64) bool
}

// Prepare makes the snapshot of another state of the venue, for a replica; show publishes it. If served says what is served
// now, only the difference is read and added; without served, or if too much differs, everything is read. whole reports
// which it was. With served the settings have to be those of the previous Prepare.
func (l *Live) Prepare(ctx context.Context, conn *sql.Conn, venue map[data.Address]bool, cities *data.Gazetteer, served *Served) (show func(), whole bool, err error) {
	next := l.ahead
	l.ahead = nil // useless from here on, unless it is shown
	advanced := false
	if next != nil && served != nil {
		if advanced, err = next.advance(ctx, conn, served); err != nil {
			return nil, false, fmt.Errorf("what changed: %w", err)
		}
	}
	if !advanced {
		next = &Live{Venue: venue, Cities: cities}
		if err := next.load(ctx, conn); err != nil {
			return nil, false, err
		}
	}
	snap := next.Snapshot()
	return func() {
		// The other database may have been restored to an earlier state, or differ in quotes alone: what is cached
		// by epoch must not be mistaken for that of another.
		if was := l.Snapshot(); was != nil && snap.Epoch <= was.Epoch {
			snap.Epoch = was.Epoch + 1
		}
		if !advanced {
			l.lineage++
		}
		snap.Lineage = l.lineage
		if l.Publish != nil {
			l.Publish(snap)
		}
		l.current.Store(snap)
		l.ahead = next
	}, !advanced, nil
}

// advance applies the difference from the state that was read, as Absorb applies a batch. It returns false, and
// has changed nothing, if everything has to be read.
func (l *Live) advance(ctx context.Context, conn *sql.Conn, served *Served) (done bool, err error) {
	if err := execNamed(ctx, conn, "AttachServed", "@file", strings.ReplaceAll(served.File, "'", "''")); err != nil {
		return false, err
	}
	defer func() { err = errors.Join(err, execNamed(context.WithoutCancel(ctx), conn, "DetachServed")) }()
	d := &difference{ctx: ctx, conn: conn, Served: served, alike: map[string]bool{}, rows: map[string]string{}, appended: map[string]bool{}}
	next, err := d.goesOn(l.progress)
	if err != nil || next == nil {
		return false, err
	}
	l.kinds = batchKinds{}
	if err := d.facts(l, next); err != nil {
		return false, err
	}
	if err := d.catalog(l); err != nil {
		return false, err
	}
	if l.reload, err = d.sections(l); err != nil {
		return false, err
	}
	l.incomplete, l.next = true, *next
	defer func() { l.reload = nil }()
	if l.kinds.has("markets") {
		if err := l.loadCatalog(ctx, conn, "market IN (SELECT market FROM n_market)"); err != nil {
			return false, err
		}
	}
	if err := l.follow(ctx, conn, d.since, "BatchNames", "BatchTokens"); err != nil {
		return false, err
	}
	l.incomplete = d.err != nil
	return d.err == nil, d.err
}

// difference is what a database has and the one being served has not. It lives for one advance, whose context it keeps.
type difference struct {
	*Served
	ctx  context.Context
	conn *sql.Conn

	block    int64             // the size of a block of both files
	alike    map[string]bool   // by table
	rows     map[string]string // by rollup, the query of its difference
	appended map[string]bool   // by rollup: only rows were appended to its delta
	err      error             // of since
}

// goesOn returns how far the new rollups have come if they continue those that were read; nil if they do not, or differ by
// too much.
func (d *difference) goesOn(read rollupProgress) (*rollupProgress, error) {
	next, err := readProgress(d.ctx, d.conn)
	if err != nil {
		return nil, err
	}
	var served rollupProgress
	if err := d.conn.QueryRowContext(d.ctx, statements.Get("ServedState")).Scan(&served.asOf, &served.stale, &served.epoch); err != nil {
		return nil, err
	}
	if served != read || next.stale || next.epoch < read.epoch || next.asOf < read.asOf {
		return nil, nil
	}
	var stay bool
	var fills, last, servedBlock int64
	if err := d.conn.QueryRowContext(d.ctx, statements.Get("FactsSince")).Scan(&stay, &fills, &last); err != nil {
		return nil, err
	}
	if err := d.conn.QueryRowContext(d.ctx, statements.Get("BlockSizes")).Scan(&d.block, &servedBlock); err != nil {
		return nil, err
	}
	if !stay || fills > mostAdvanced || d.block != servedBlock {
		return nil, nil
	}
	return &next, execNamed(d.ctx, d.conn, "FillsSince", "@last", strconv.FormatInt(last, 10))
}

// facts makes the tables of what came in.
func (d *difference) facts(l *Live, next *rollupProgress) error {
	if err := execNamed(d.ctx, d.conn, "DayFillsSince", "@lo", dayAgo(next.asOf), "@was", dayAgo(l.progress.asOf)); err != nil {
		return err
	}
	for _, name := range []string{"HoldersSince", "OtherNames", "NoLabels", "NoDeskTokens"} {
		if err := execNamed(d.ctx, d.conn, name); err != nil {
			return err
		}
	}
	l.kinds["names"] = true
	return nil
}

// catalog makes the tables of the markets and tokens whose description or mapping differs.
func (d *difference) catalog(l *Live) error {
	for _, of := range []struct {
		kind, table, none, differ string
		query                     string
		tables                    []string
	}{
		{"markets", "n_market", "SameMarkets", "OtherMarkets", statements.Get("LoadMarkets", "@which", "true"), []string{"markets", "live_quote"}},
		{"mappings", "n_token", "SameTokens", "OtherTokens", statements.Get("LoadTokens", "@known", "0"), []string{"tokens"}},
	} {
		name, less := of.none, of.query
		for _, table := range of.tables {
			same, err := d.same(table)
			if err != nil {
				return err
			}
			if !same {
				name = of.differ
			}
			less = replaceWord(less, table, "served."+table)
		}
		err := execNamed(d.ctx, d.conn, name, "@rows", statements.Get("OtherRows", "@rows", of.query, "@less", less), "@known", strconv.Itoa(len(l.tokens)))
		if err != nil {
			return err
		}
		var n int64
		if err := d.conn.QueryRowContext(d.ctx, statements.Get("CountSince", "@table", of.table)).Scan(&n); err != nil {
			return err
		}
		if n > 0 {
			l.kinds[of.kind] = true
		}
	}
	return nil
}

// deskTables are what the weather desk is made from, besides markets and their trades.
var deskTables = []string{"weather_issue", "weather_report", "weather_obs", "weather_normal", "weather_lead", "desk_market", "desk_state"}

// sections reports which sections have to be loaded as a whole, because the difference does not
// contain what they need.
func (d *difference) sections(l *Live) (reload func(section) bool, err error) {
	desk := l.kinds.has("markets", "mappings")
	for _, table := range deskTables {
		same, err := d.same(table)
		if err != nil {
			return nil, err
		}
		desk = desk || !same
	}
	if !desk {
		grew, err := d.grew(tableNamed("token_day"))
		if err != nil {
			return nil, err
		}
		desk = !grew
	}
	growing := false
	if len(l.excluded) > 0 {
		grew, err := d.grew(tableNamed("wallet_day"))
		if err != nil {
			return nil, err
		}
		growing = !grew
	}
	// The first and the last trade of markets that left the desk cannot be undone: sums can be subtracted, extremes
	// cannot.
	traders, err := d.grew(deskWalletTable())
	if err != nil {
		return nil, err
	}
	return func(s section) bool {
		switch s.(type) {
		case *deskTraders:
			return !traders
		case *deskSection:
			return desk
		case *growth:
			return growing
		}
		return false
	}, nil
}

// since returns the query of a rollup's difference.
func (d *difference) since(t table) string {
	query, known := d.rows[t.name]
	if known || d.err != nil {
		return query
	}
	if query, d.err = d.differs(t); d.err != nil {
		query = statements.Get("NoneOf", "@columns", t.columnList(), "@table", t.name)
	}
	d.rows[t.name] = query
	return query
}

func (d *difference) differs(t table) (string, error) {
	grew, err := d.grew(t)
	if err != nil || grew {
		return d.rows[t.name], err
	}
	// Its delta was compacted, or it was rebuilt: compare both as a whole.
	all := t.baseAndDelta()
	less := replaceWord(all, t.name, "served."+t.name)
	if len(t.greatest) > 0 { // the larger value is used
		return statements.Get("OtherRows", "@rows", all, "@less", less), nil
	}
	columns := append([]string(nil), t.keys...)
	for _, c := range t.sums {
		columns = append(columns, "-"+c+" AS "+c)
	}
	if t.extremes {
		columns = append(columns, "first_ts", "last_ts")
	}
	less = statements.Get("LessRows", "@columns", strings.Join(columns, ", "), "@rows", less)
	return t.grouped(statements.Get("BothRows", "@rows", all, "@less", less)), nil
}

// grew reports whether rows were only appended to a rollup's delta, and notes the query of these.
func (d *difference) grew(t table) (bool, error) {
	if grew, known := d.appended[t.name]; known {
		return grew, nil
	}
	d.appended[t.name] = false
	same, err := d.same(t.name)
	if err != nil || !same {
		return false, err
	}
	var rows, last, now int64
	var sum, sumNow string
	if err := d.conn.QueryRowContext(d.ctx, t.named("ServedDelta", "@columns", t.columnList())).Scan(&rows, &last, &sum); err != nil {
		return false, err
	}
	place := strconv.FormatInt(last, 10)
	if err := d.conn.QueryRowContext(d.ctx, t.named("DeltaUpTo", "@columns", t.columnList(), "@last", place)).Scan(&now, &sumNow); err != nil {
		return false, err
	}
	if now != rows || sumNow != sum {
		return false, nil
	}
	d.appended[t.name] = true
	d.rows[t.name] = t.named("DeltaBehind", "@columns", t.columnList(), "@last", place)
	return true, nil
}

// same reports whether a table certainly has the same rows: they are in the same blocks of the file, and these blocks
// are equal.
func (d *difference) same(table string) (bool, error) {
	if same, known := d.alike[table]; known {
		return same, nil
	}
	var same bool
	err := d.conn.QueryRowContext(d.ctx, statements.Get("StoredAlike", "@table", table)).Scan(&same)
	if err == nil && same {
		err = engine.EachValue(d.ctx, d.conn, statements.Get("StoredIn", "@table", table), func(block int64) error {
			if block < -1 || block >= 0 && !d.Unchanged(block*d.block, d.block) {
				same = false
			}
			return nil
		})
	}
	d.alike[table] = same && err == nil
	return d.alike[table], err
}
