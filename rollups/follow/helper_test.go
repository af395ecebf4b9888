package follow_test

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/rs/zerolog"
	"go.uber.org/goleak"

	"pmx/data"
	"pmx/data/chain"
	"pmx/data/feeds"
	"pmx/data/sample"
	"pmx/data/testfiles"
	"pmx/engine/enginetest"
	"pmx/http/replay"
	"pmx/rollups/follow"
	"pmx/rollups/keeper"
)

// TestMain lets the test binary be the process that is killed.
func TestMain(m *testing.M) {
	if text := os.Getenv(errandKey); text != "" {
		os.Exit(runErrand(text))
	}
	goleak.VerifyTestMain(m)
}

// history has the logs of a sample venue's chain by block.
type history struct {
	venue       *sample.Venue
	file        string // all of them as NDJSON
	logs        map[int64][][]byte
	first, last int64 // blocks with logs
	count       int
	imported    struct {
		sync.Once
		facts map[string][]string
	}
}

var played = sync.OnceValues(func() (*history, error) {
	return historyFrom(sample.Config{Fills: int64(testfiles.Cases(1_000, 2_000)), Days: 8, End: time.Date(2026, 11, 7, 0, 0, 0, 0, time.UTC), Seed: 5, Chain: true})
})

// historyFrom returns the history of a simulated venue.
func historyFrom(c sample.Config) (*history, error) {
	v, err := sample.New(context.Background(), c)
	if err != nil {
		return nil, err
	}
	var all bytes.Buffer
	if err := replay.WriteLogs(&all, v); err != nil {
		return nil, err
	}
	h, err := historyOf(all.String())
	if err == nil {
		h.venue = v
	}
	return h, err
}

// historyOf reads the logs of a chain.
func historyOf(file string) (*history, error) {
	h := &history{file: file, logs: map[int64][][]byte{}}
	for lines := bufio.NewScanner(strings.NewReader(file)); lines.Scan(); {
		b := chain.NewDecoder(chain.Contracts())
		text := bytes.Clone(lines.Bytes())
		e, err := b.Decode(text)
		if err != nil {
			return nil, err
		}
		n := e.Log.Block
		if h.count == 0 || n < h.first {
			h.first = n
		}
		h.last = max(h.last, n)
		h.logs[n] = append(h.logs[n], text)
		h.count++
	}
	return h, nil
}

func chainOf(t testing.TB) *history {
	t.Helper()
	h, err := played()
	if err != nil {
		t.Fatal(err)
	}
	return h
}

// node is a node of that chain in this process. Its functions may be nil.
type node struct {
	*history
	name string
	mu   sync.Mutex
	head int64
	bare bool // its responses have no header of the block before

	silent   bool // it never answers
	looks    int  // number of requests for the newest final block
	unproved bool // its responses to looks prove nothing
	proved   int  // how many did

	headers int                                            // number of requests for them
	most    int64                                          // limit of blocks; 0: none
	lose    func(from, to, block int64, nth int) bool      // a log that it omits silently
	fail    func(from, to int64) error                     // it does not answer
	hash    func(block int64) (other data.Hash, is bool)   // of another chain
	odd     func(block int64, log []byte) (other []byte)   // it returns a different log
	asks    int                                            // for logs
	got     func(from, to int64, addresses []data.Address) // called with every one
}

func (n *node) Name() string { return n.name }

func (n *node) header(number int64) follow.Header {
	own := func(b int64) data.Hash {
		if n.hash != nil {
			if h, other := n.hash(b); other {
				return h
			}
		}
		if logs := n.logs[b]; len(logs) > 0 {
			d := chain.NewDecoder(chain.Contracts())
			if e, err := d.Decode(logs[0]); err == nil && !e.Log.BlockHash.IsZero() {
				return e.Log.BlockHash
			}
		}
		return sha256.Sum256([]byte(strconv.FormatInt(b, 10)))
	}
	return follow.Header{Number: number, Hash: own(number), Parent: own(number - 1), Time: sample.BlockTime(number)}
}

func (n *node) Finalized(ctx context.Context) (follow.Header, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.looks++
	if err := n.hush(ctx); err != nil {
		return follow.Header{}, err
	}
	if n.fail != nil {
		if err := n.fail(0, 0); err != nil {
			return follow.Header{}, err
		}
	}
	return n.header(n.head), nil
}

// hush keeps a silent node from answering. It is locked.
func (n *node) hush(ctx context.Context) error {
	if n.silent {
		n.mu.Unlock()
		<-ctx.Done()
		n.mu.Lock()
	}
	return context.Cause(ctx)
}

// Tail returns the same as Logs if the newest final block has a log; otherwise its response proves
// nothing.
func (n *node) Tail(ctx context.Context, from, to int64, addresses []data.Address, topics []data.Hash) (follow.Header, *follow.Answer, error) {
	final, err := n.Finalized(ctx)
	n.mu.Lock()
	proved := err == nil && final.Number >= from && final.Number <= to && len(n.logs[final.Number]) > 0 && !n.unproved
	n.mu.Unlock()
	if !proved {
		return final, nil, err
	}
	a, err := n.Logs(ctx, from, final.Number, addresses, topics)
	if err != nil {
		return final, nil, nil
	}
	n.mu.Lock()
	n.proved++
	n.mu.Unlock()
	return final, &a, nil
}

func (n *node) Headers(_ context.Context, numbers []int64) (out []follow.Header, err error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.headers++
	for _, b := range numbers {
		out = append(out, n.header(b))
	}
	return out, nil
}

func (n *node) Logs(ctx context.Context, from, to int64, addresses []data.Address, _ []data.Hash) (follow.Answer, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.asks++
	if err := n.hush(ctx); err != nil {
		return follow.Answer{}, err
	}
	if n.got != nil {
		n.got(from, to, addresses)
	}
	if n.most > 0 && to-from+1 > n.most {
		return follow.Answer{}, &follow.TooWide{Blocks: n.most}
	}
	if n.fail != nil {
		if err := n.fail(from, to); err != nil {
			return follow.Answer{}, err
		}
	}
	asked := map[data.Address]bool{}
	for _, a := range addresses {
		asked[a] = true
	}
	var logs [][]byte
	for b := max(from, n.first); b <= min(to, n.last); b++ {
		for i, log := range n.history.logs[b] {
			if n.odd != nil {
				log = n.odd(b, log)
			}
			if (n.lose == nil || !n.lose(from, to, b, i)) && asked[addressOf(log)] {
				logs = append(logs, log)
			}
		}
	}
	before := n.header(from - 1)
	if n.bare {
		before = follow.Header{}
	}
	return follow.Answer{Before: before, End: n.header(to), Finalized: n.header(n.head), EachLog: func(f func([]byte) error) error {
		for _, l := range logs {
			if err := f(l); err != nil {
				return err
			}
		}
		return nil
	}}, nil
}

// addressOf returns the address of a log, which replay writes as its first member.
func addressOf(log []byte) (a data.Address) {
	_, rest, _ := bytes.Cut(log, []byte(`"address":"`))
	a, _ = data.ParseAddress(string(rest[:42]))
	return a
}

// isFill reports whether a log is a fill, which belongs to a match.
func (h *history) isFill(block int64, nth int) bool {
	e, err := chain.NewDecoder(chain.Contracts()).Decode(h.logs[block][nth])
	return err == nil && e.Kind == chain.Filled
}

func (h *history) node(name string) *node { return &node{history: h, name: name, head: h.last + 40} }

// venue opens the venue of a folder, which is closed at the end of the test.
func venue(t testing.TB, dir string, change ...func(*keeper.Config)) *keeper.Keeper {
	t.Helper()
	k := openVenue(t, dir, change...)
	t.Cleanup(func() {
		if err := k.Close(); err != nil {
			t.Error(err)
		}
	})
	return k
}

// openVenue opens a venue that the test closes. It is served only in a long run, because the
// snapshot is tested with the keeper, and TestFollowingIsImporting follows a venue that is served.
func openVenue(t testing.TB, dir string, change ...func(*keeper.Config)) *keeper.Keeper {
	t.Helper()
	c := keeper.Config{Engine: enginetest.OneThread(t, dir, "2GB"), Feeds: feeds.Catalog{}, Log: zerolog.Nop(), Serve: testfiles.Long()}
	for _, f := range change {
		f(&c)
	}
	k, err := keeper.Open(context.Background(), c)
	if err != nil {
		t.Fatal(err)
	}
	return k
}

// served keeps a snapshot of a venue, in a short run too.
func served(c *keeper.Config) { c.Serve = true }

// unserved keeps no snapshot of a venue.
func unserved(c *keeper.Config) { c.Serve = false }

// rowsOf returns the rows of a statement as text, in order.
func rowsOf(t testing.TB, v follow.Venue, query string) (out []string) {
	t.Helper()
	err := v.Read(context.Background(), func(conn *sql.Conn) error {
		rows, err := conn.QueryContext(context.Background(), "SELECT to_json(w)::VARCHAR AS row FROM ("+query+") AS w ORDER BY row")
		if err != nil {
			return err
		}
		defer rows.Close()
		for rows.Next() {
			var row string
			if err := rows.Scan(&row); err != nil {
				return err
			}
			out = append(out, row)
		}
		return rows.Err()
	})
	if err != nil {
		t.Fatalf("%s: %v", query, err)
	}
	return out
}

// options returns the options of a lane that follows from the first block on, without waiting.
func (h *history) options(k follow.Venue, nodes ...*node) follow.ChainOptions {
	o := follow.ChainOptions{Venue: k, Contracts: chain.Contracts(), FromBlock: h.first - 10, Log: zerolog.Nop(), Every: 20 * time.Millisecond}
	for _, n := range nodes {
		o.Nodes = append(o.Nodes, n)
	}
	return o
}

func lane(t testing.TB, o follow.ChainOptions) *follow.Chain {
	t.Helper()
	c, err := follow.NewChain(o)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// once follows until everything is committed.
func once(t testing.TB, o follow.ChainOptions) follow.ChainStatus {
	t.Helper()
	c := lane(t, o)
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	if err := c.Once(ctx); err != nil {
		t.Fatalf("err = %v, status = %+v", err, c.Status())
	}
	return c.Status()
}

// tables are queries of the facts that do not depend on ids.
var tables = map[string]string{
	"fills": "SELECT hex(w.address), t.token_id, f.* EXCLUDE (wallet, token, batch, tx), hex(f.tx) FROM fills AS f JOIN wallets AS w USING (wallet) " +
		"JOIN tokens AS t ON t.token = f.token",
	"waiting": "FROM waiting_fills",
	"markets": "SELECT * EXCLUDE (market, condition), hex(condition) FROM markets",
	"tokens":  "SELECT t.token_id, hex(m.condition), t.outcome FROM tokens AS t LEFT JOIN markets AS m USING (market)",
	"totals": "SELECT hex(w.address), SUM(fills), SUM(buy_usd), SUM(sell_usd), SUM(redemption), SUM(markets), SUM(days) FROM (FROM wallet_total UNION ALL FROM wallet_total_delta) AS p " +
		"JOIN wallets AS w USING (wallet) GROUP BY ALL",
}

func facts(t testing.TB, k *keeper.Keeper) map[string][]string {
	t.Helper()
	out := map[string][]string{}
	err := k.Read(context.Background(), func(conn *sql.Conn) error {
		for name, query := range tables {
			rows, err := conn.QueryContext(context.Background(), "SELECT (t::VARCHAR) FROM ("+query+") AS t ORDER BY ALL")
			if err != nil {
				return fmt.Errorf("%s: %w", name, err)
			}
			for rows.Next() {
				var s string
				if err := rows.Scan(&s); err != nil {
					return err
				}
				out[name] = append(out[name], s)
			}
			if err := errors.Join(rows.Err(), rows.Close()); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// want returns the facts of the same logs imported as a file.
func (h *history) want(t testing.TB) map[string][]string {
	t.Helper()
	h.imported.Do(func() {
		path := filepath.Join(t.TempDir(), "logs.ndjson")
		if err := os.WriteFile(path, []byte(h.file), 0o600); err != nil {
			t.Fatal(err)
		}
		k := venue(t, t.TempDir())
		res, err := k.Import(t.Context(), keeper.Request{Paths: []string{path}}, nil)
		if err != nil || len(res.Failed) > 0 || res.Receipts[0].RejectedRows() > 0 {
			t.Fatalf("err = %v, res = %+v", err, res)
		}
		h.imported.facts = facts(t, k)
	})
	if len(h.imported.facts["fills"]) < h.count/2 {
		t.Fatalf("got %d fills", len(h.imported.facts["fills"]))
	}
	return h.imported.facts
}

func mustEqual(t testing.TB, k *keeper.Keeper, want map[string][]string) {
	t.Helper()
	got := facts(t, k)
	for name := range tables {
		if !cmp.Equal(want[name], got[name]) {
			t.Errorf("%s differ: %d rows, want %d", name, len(got[name]), len(want[name]))
			for i := range min(len(want[name]), len(got[name])) {
				if want[name][i] != got[name][i] {
					t.Errorf("first at %d:\n%s\n%s", i, want[name][i], got[name][i])
					break
				}
			}
		}
	}
}

func mustVerify(t testing.TB, k *keeper.Keeper) {
	t.Helper()
	checks, err := k.Verify(context.Background(), nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range checks {
		if !c.OK {
			t.Errorf("verify: %+v", c)
		}
	}
}

// clock runs faster than real time, and stops while anything holds it, so that results by its time
// do not depend on the speed of the machine.
type clock struct {
	mu   sync.Mutex
	now  time.Time
	was  time.Time
	by   int
	held int // holds
}

func newClock() *clock {
	return &clock{now: time.Date(2026, 11, 21, 0, 0, 0, 0, time.UTC), was: time.Now(), by: 1}
}

// pace makes it run so many times as fast.
func (c *clock) pace(t testing.TB, by int) {
	t.Helper()
	_ = c.time()
	c.mu.Lock()
	defer c.mu.Unlock()
	c.by = by
}

func (c *clock) time() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.read()
}

func (c *clock) read() time.Time {
	at := time.Now()
	if c.held == 0 {
		c.now = c.now.Add(at.Sub(c.was) * time.Duration(c.by))
	}
	c.was = at
	return c.now
}

// hold stops the clock until goOn is called as often.
func (c *clock) hold() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.read()
	c.held++
}

func (c *clock) goOn() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.read()
	c.held--
}

func (c *clock) advance(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(d)
}
