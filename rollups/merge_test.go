package rollups_test

import (
	"context"
	"database/sql"
	"encoding/binary"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"pmx/data"
	"pmx/data/feeds"
	"pmx/engine"
	"pmx/engine/enginetest"
	"pmx/engine/ingest"
	"pmx/rollups"
	"pmx/rollups/pnl"
	"pmx/rollups/serving"
)

// step is a file of a random import: fills, markets and payouts.
type step struct {
	fills   []data.Fill
	markets []data.Market
	refs    []data.TokenRef
}

// newStepFeeds returns a catalog whose files are steps: the path is the step's number.
func newStepFeeds(steps []step) stepFeeds {
	feed := data.Feed{
		Name: "memory", Kind: data.KindFills, Identity: data.KeepRepeats, Rule: "equal rows are distinct fills",
		Formats: []data.Format{data.NDJSON}, Match: func(data.Head) bool { return true },
		Read: func(_ context.Context, src data.Source, _ io.Reader, sink data.Sink) error {
			var n int
			if _, err := fmt.Sscanf(filepath.Base(src.Name), "%d", &n); err != nil {
				return err
			}
			return emit(steps[n], sink)
		},
	}
	return stepFeeds{feed: feed}
}

// stepFeeds is a catalog with a single feed.
type stepFeeds struct {
	feeds.Catalog
	feed data.Feed
}

func (stepFeeds) Head(string) (data.Head, error) { return data.Head{Format: data.NDJSON}, nil }

func (c stepFeeds) Detect(data.Head) (data.Feed, error) { return c.feed, nil }

func emit(s step, sink data.Sink) error {
	line := int64(0)
	for _, m := range s.markets {
		line++
		if err := sink.Market(line, m); err != nil {
			return err
		}
	}
	for _, r := range s.refs {
		line++
		if err := sink.Token(line, r); err != nil {
			return err
		}
	}
	for _, f := range s.fills {
		line++
		if err := sink.Fill(line, f); err != nil {
			return err
		}
	}
	return nil
}

type venue struct {
	t   testing.TB
	db  *engine.DB
	im  *ingest.Importer
	dir string

	merger *rollups.Merger
	live   *rollups.Live // follows every batch; address(0) is one of the venue's own

	atOnce int64 // number of rows that are rebuilt and verified at once; 0: as many as memory allows
}

func newVenue(t testing.TB, steps []step) *venue {
	t.Helper()
	return newVenueIn(t, steps, enginetest.Create)
}

// newVenueIn is newVenue in a database that create creates.
func newVenueIn(t testing.TB, steps []step, create func(dir string) error) *venue {
	t.Helper()
	dir, err := os.MkdirTemp("", "pmx-test-")
	if err == nil {
		err = create(dir)
	}
	if err != nil {
		t.Fatal(err)
	}
	db, err := engine.Open(context.Background(), enginetest.Options(t, dir, "1GB"))
	if err != nil {
		t.Fatal(err)
	}
	im := &ingest.Importer{
		DB: db, Feeds: newStepFeeds(steps), Now: time.Now,
	}
	live := &rollups.Live{Venue: map[data.Address]bool{address(0): true}}
	g := &rollups.Merger{Live: live}
	im.Rollups = ingest.Rollups{Merge: g.Merge, Postpone: g.Postpone,
		Absorb: func(ctx context.Context, conn *sql.Conn) error {
			g.Committed()
			return live.Absorb(ctx, conn, g.Added())
		}}
	return &venue{merger: g, live: live, t: t, db: db, im: im, dir: dir}
}

func (v *venue) close() {
	if err := v.db.Close(); err != nil {
		v.t.Error(err)
	}
	_ = os.RemoveAll(v.dir)
}

func (v *venue) importStep(n int) ingest.Receipt { return v.importWith(n, ingest.Options{}) }

func (v *venue) importWith(n int, opts ingest.Options) ingest.Receipt {
	path := filepath.Join(v.dir, fmt.Sprint(n))
	if err := os.WriteFile(path, []byte("{}\n"), 0o600); err != nil {
		v.t.Fatal(err)
	}
	plan, _, err := v.im.Identify(path, "")
	if err != nil {
		v.t.Fatal(err)
	}
	r, err := v.im.Import(context.Background(), plan, opts)
	if err != nil {
		v.t.Fatal(err)
	}
	return r
}

func (v *venue) write(f func(ctx context.Context, conn *sql.Conn) error) {
	ctx := context.Background()
	if err := v.db.Write(ctx, func(conn *sql.Conn) error { return f(ctx, conn) }); err != nil {
		v.t.Fatal(err)
	}
}

const day = int64(86_400_000_000)

func address(i int) (a data.Address) { a[0], a[19] = 0xaa, byte(i); return a }

func condition(i int) (h data.Hash) { h[0], h[31] = 0xcc, byte(i); return h }

func tx(i int) (h data.Hash) { binary.BigEndian.PutUint32(h[28:], uint32(i)+1); return h }

func token(market, outcome int) string { return fmt.Sprint(1000 + market*10 + outcome) }

// world is a random set of fills, market descriptions and payouts.
type world struct {
	fills   []data.Fill
	markets []data.Market // metadata and, for some, several versions of a payout
	payouts map[data.Hash]pnl.Payout
}

var start = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

func drawWorld(t *rapid.T) world {
	w := world{payouts: map[data.Hash]pnl.Payout{}}
	n := rapid.IntRange(1, 60).Draw(t, "fills")
	for i := range n {
		f := data.Fill{
			Tx: tx(rapid.IntRange(0, 12).Draw(t, "tx")), LogIndex: data.NoIndex,
			Wallet: address(rapid.IntRange(0, 4).Draw(t, "wallet")),
			Side:   data.Side(rapid.IntRange(0, 1).Draw(t, "side")), Role: data.Role(rapid.IntRange(0, 2).Draw(t, "role")),
			TokenID: token(rapid.IntRange(0, 3).Draw(t, "market"), rapid.IntRange(0, 2).Draw(t, "outcome")),
			Shares:  data.Micro(rapid.IntRange(1, 9).Draw(t, "shares")) * 333_333,
			Outcome: data.NoIndex,
		}
		f.TS = start.UnixMicro() + int64(f.Tx[31])*rapid.SampledFrom([]int64{1, 3 * day / 10, 7 * day}).Draw(t, "spread")
		f.USD = f.Shares * data.Micro(rapid.IntRange(0, 10).Draw(t, "price")) / 10
		if rapid.Bool().Draw(t, "indexed") {
			f.LogIndex = int32(i)
			f.Fee = data.Micro(rapid.IntRange(int(f.Side)-1, 2).Draw(t, "fee")) * 1_111
		}
		w.fills = append(w.fills, f)
	}
	for i := range 3 { // market 3 is never described: its tokens stay unmapped
		w.markets = append(w.markets, drawMarket(t, i, w.payouts)...)
	}
	return w
}

func drawMarket(t *rapid.T, i int, payouts map[data.Hash]pnl.Payout) []data.Market {
	base := data.Market{Condition: condition(i), Question: fmt.Sprint("market ", i), UpdatedAt: start,
		Outcomes: []string{"a", "b", "c"}, TokenIDs: []string{token(i, 0), token(i, 1), token(i, 2)}}
	base.Category = rapid.SampledFrom([]string{"", "politics", "crypto"}).Draw(t, "category")
	out := []data.Market{base}
	if rapid.Bool().Draw(t, "moves") {
		again := base
		again.UpdatedAt = start.Add(time.Hour)
		again.Category = rapid.SampledFrom([]string{"politics", "crypto", "sports"}).Draw(t, "category then")
		out = append(out, again)
	}
	dated := int64(0) // by the latest version that has a time
	unknown := rapid.Bool().Draw(t, "time never known")
	for v := range rapid.IntRange(0, 3).Draw(t, "versions") {
		pay := rapid.SampledFrom([][]data.Micro{{data.One, 0, 0}, {0, data.One, 0}, {500_000, 500_000, 0},
			{333_334, 333_333, 333_333}}).Draw(t, "payout")
		at := start.Add(time.Duration(rapid.IntRange(-40, 60).Draw(t, "resolved")) * 12 * time.Hour)
		if unknown || rapid.IntRange(0, 3).Draw(t, "time unknown") == 0 {
			at = time.Time{}
		} else {
			dated = at.UnixMicro()
		}
		out = append(out, data.Market{Condition: base.Condition, Stub: true, Resolution: &data.Resolution{
			Condition: base.Condition, Payouts: pay, ResolvedAt: at, Source: data.ResolvedByAPI,
			Version: start.Add(time.Duration(v) * time.Hour)}})
		payouts[base.Condition] = pnl.Payout{PerToken: pay, ResolvedAt: dated}
	}
	return out
}

// distinct applies the identity rule: a log index counts once, and for equal rows without one the
// largest count in any file is used, including those with a log index.
func (w world) distinct() []pnl.Fill {
	var out []pnl.Fill
	for _, f := range w.fills {
		p := pnl.Fill{TS: f.TS, Wallet: f.Wallet, Token: f.TokenID, Side: f.Side, Role: f.Role,
			Shares: f.Shares, USD: f.USD, Fee: f.Fee}
		for i := range 3 {
			for o := range 3 {
				if f.TokenID == token(i, o) {
					p.Market, p.Outcome = condition(i), o
				}
			}
		}
		if p.Market.IsZero() {
			p.Outcome = int(f.TokenID[len(f.TokenID)-1])
		}
		out = append(out, p)
	}
	return out
}

// split distributes fills and markets over files in any order; transactions are not split, as in
// any real feed without log indexes.
func (w world) split(t *rapid.T) []step {
	n := rapid.IntRange(1, 5).Draw(t, "files")
	steps := make([]step, n)
	rng := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "shuffle"), 1))
	home := map[data.Hash]int{}
	for _, i := range rng.Perm(len(w.fills)) {
		f := w.fills[i]
		s, seen := home[f.Tx]
		if !seen {
			s = rng.IntN(n)
			home[f.Tx] = s
		}
		steps[s].fills = append(steps[s].fills, f)
	}
	for _, i := range rng.Perm(len(w.markets)) {
		s := rng.IntN(n)
		steps[s].markets = append(steps[s].markets, w.markets[i])
	}
	return steps
}

const totalsQuery = `SELECT w.address, SUM(fills), SUM(maker_fills), SUM(taker_fills), SUM(buy_usd), SUM(sell_usd),
  SUM(fee_usd), SUM(days), SUM(markets), SUM(resolved_markets), SUM(winning_markets), SUM(negative_legs),
  SUM(unmapped_fills), SUM(t.redemption), SUM(unresolved_cash), min(first_ts), max(last_ts)
FROM (FROM wallet_total UNION ALL FROM wallet_total_delta) AS t JOIN wallets AS w ON w.wallet = t.wallet
GROUP BY w.address`

func (v *venue) totals() map[data.Address]pnl.Totals {
	out := map[data.Address]pnl.Totals{}
	v.write(func(ctx context.Context, conn *sql.Conn) error {
		rows, err := conn.QueryContext(ctx, strings.ReplaceAll(totalsQuery, "SUM(", "sum_int("))
		if err != nil {
			return err
		}
		defer func() { _ = rows.Close() }()
		for rows.Next() {
			var t pnl.Totals
			var addr []byte
			if err := rows.Scan(&addr, &t.Fills, &t.MakerFills, &t.TakerFills, &t.BuyUSD, &t.SellUSD, &t.FeeUSD, &t.Days,
				&t.Markets, &t.ResolvedMarkets, &t.WinningMarkets, &t.NegativeLegs, &t.UnmappedFills, &t.Redemption,
				&t.UnresolvedCash, &t.FirstTS, &t.LastTS); err != nil {
				return err
			}
			out[data.Address(addr)] = t
		}
		return rows.Err()
	})
	return out
}

func (v *venue) window(span int) map[data.Address]pnl.Period {
	out := map[data.Address]pnl.Period{}
	v.write(func(ctx context.Context, conn *sql.Conn) error {
		rows, err := conn.QueryContext(ctx, strings.ReplaceAll(`SELECT w.address, SUM(fills), SUM(buy_usd), SUM(sell_usd),
			SUM(fee_usd), SUM(redemption), SUM(undated), SUM(undated_markets)
			FROM (FROM wallet_window UNION ALL FROM wallet_window_delta) AS t JOIN wallets AS w ON w.wallet = t.wallet
			WHERE span = ? GROUP BY w.address`, "SUM(", "sum_int("), span)
		if err != nil {
			return err
		}
		defer func() { _ = rows.Close() }()
		for rows.Next() {
			var p pnl.Period
			var addr []byte
			if err := rows.Scan(&addr, &p.Fills, &p.BuyUSD, &p.SellUSD, &p.FeeUSD, &p.Redemption, &p.Undated, &p.UndatedMarkets); err != nil {
				return err
			}
			if p != (pnl.Period{}) {
				out[data.Address(addr)] = p
			}
		}
		return rows.Err()
	})
	return out
}

// compare compares the database with the definition.
func (v *venue) compare(t *rapid.T, fills []pnl.Fill, payouts map[data.Hash]pnl.Payout) {
	if diff := cmp.Diff(pnl.Wallets(fills, payouts), v.totals()); diff != "" {
		t.Fatalf("wallet totals (-definition +database):\n%s", diff)
	}
	v.compareForecasts(t, fills, payouts)
	asOf := int64(0)
	for _, f := range fills {
		asOf = max(asOf, f.TS)
	}
	for span, length := range []int64{day, 7 * day, 30 * day} {
		if diff := cmp.Diff(pnl.Window(fills, payouts, asOf-length, asOf), v.window(span)); diff != "" {
			t.Fatalf("window %d (-definition +database):\n%s", span, diff)
		}
	}
}

// drawAtOnce chooses whether definitions are computed at once or in chunks of any size.
func (v *venue) drawAtOnce(t *rapid.T) {
	v.atOnce = rapid.SampledFrom([]int64{0, 1, 3, 12}).Draw(t, "rows at once")
}

func (v *venue) verify(t rapid.TB) {
	v.write(func(ctx context.Context, conn *sql.Conn) error {
		checks, err := rollups.VerifyAtOnce(ctx, conn, v.atOnce)
		for _, c := range checks {
			// Random fills are not matches, so their sums do not cancel out.
			if !c.OK && c.Name != "zero_sum_markets" {
				t.Errorf("verify: %+v", c)
			}
		}
		return err
	})
	if t.Failed() {
		t.FailNow()
	}
}

func (v *venue) rebuild() {
	v.write(func(ctx context.Context, conn *sql.Conn) error {
		if err := rollups.RebuildAtOnce(ctx, v.db, conn, v.atOnce); err != nil {
			return err
		}
		return v.live.Load(ctx, conn)
	})
}

// followed compares the snapshot that followed every batch with one loaded from the database, and
// returns it.
func (v *venue) followed(t rapid.TB) *serving.Snapshot {
	fresh := &rollups.Live{Venue: v.live.Venue}
	v.write(func(ctx context.Context, conn *sql.Conn) error { return fresh.LoadBeside(ctx, conn, v.db.Beside) })
	if _, differ := v.live.Snapshot().Compare(fresh.Snapshot()); differ > 0 {
		t.Fatalf("%d things differ (-loaded +followed): %s", differ,
			cmp.Diff(fresh.Snapshot().Stats, v.live.Snapshot().Stats))
	}
	return v.live.Snapshot()
}

func TestAnySplitAndOrderGivesTheDefinition(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		w := drawWorld(rt)
		steps := w.split(rt)
		v := newVenue(t, steps)
		defer v.close()
		v.drawAtOnce(rt)
		v.setWhaleRule(whaleMark)
		v.write(func(ctx context.Context, conn *sql.Conn) error {
			_, err := conn.ExecContext(ctx, "CREATE MACRO sum_int(x) AS SUM(x)::BIGINT")
			return err
		})
		for i := range steps {
			v.im.BulkRows = 0
			if rapid.IntRange(0, 5).Draw(rt, "bulk") == 0 {
				v.im.BulkRows = 1
			}
			r := v.importStep(i)
			if r.RebuildNeeded || rapid.IntRange(0, 5).Draw(rt, "rebuild") == 0 {
				v.rebuild()
			}
			if rapid.IntRange(0, 3).Draw(rt, "warm") == 0 {
				v.write(func(ctx context.Context, conn *sql.Conn) error { return v.merger.Warm(ctx, conn) })
			}
			if rapid.IntRange(0, 3).Draw(rt, "compact") == 0 {
				v.write(func(ctx context.Context, conn *sql.Conn) error { return rollups.CompactAll(ctx, conn, 3) })
			}
			if rapid.Bool().Draw(rt, "store index") {
				v.write(rollups.StoreIndex)
			}
			again := rapid.IntRange(0, i).Draw(rt, "again")
			if r := v.importStep(again); r.Inserted != 0 || r.Replaced != 0 {
				rt.Fatalf("importing file %d again: %+v", again, r)
			}
		}
		v.compare(rt, w.distinct(), w.payouts)
		v.compareFlow(rt, w)
		v.compareCandles(rt)
		v.verify(rt)
		snap := v.followed(rt)
		compareStats(rt, w.distinct(), w.payouts, snap)
		compareRanking(rt, w.distinct(), w.payouts, snap)
		v.rebuild()
		v.compare(rt, w.distinct(), w.payouts)
		v.verify(rt)
	})
}
