// Package apitest has the fakes that tests and benchmarks of the API share: a synthetic venue, a
// clock, a source, a key store, and requests without a socket.
package apitest

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"net"
	"sync"
	"sync/atomic"
	"time"

	"github.com/valyala/fasthttp"

	"pmx/data"
	"pmx/engine/control/record"
	"pmx/http/access"
	"pmx/rollups/serving"
)

// AsOf is the time of the newest fill in Snapshot.
var AsOf = time.Date(2026, 3, 14, 15, 9, 26, 535_000_000, time.UTC)

// Wallet is the address of wallet i.
func Wallet(i int) data.Address {
	var a data.Address
	binary.BigEndian.PutUint64(a[:8], uint64(i+1)*0x9e3779b97f4a7c15)
	binary.BigEndian.PutUint64(a[12:], uint64(i+1)*0xd6e8feb86659fd93)
	return a
}

// Snapshot returns a synthetic venue: wallets with totals, and leaderboards of rows rows each.
func Snapshot(epoch uint64, wallets, rows int) *serving.Snapshot {
	s := &serving.Snapshot{Epoch: epoch, AsOf: AsOf, Stats: Stats(200)}
	b := serving.NewWalletBuilder(wallets)
	for i := range wallets {
		b.Wallets().Add(Wallet(i))
		b.Set(data.WalletID(i), totals(i))
		if i%3 == 0 {
			b.SetName(data.WalletID(i), fmt.Sprintf("trader %d", i))
		}
	}
	b.Seal(s)
	for p := range serving.Periods {
		for i := range rows {
			s.Traders[p] = append(s.Traders[p], traderRow(i, rows, p))
			s.Markets[p] = append(s.Markets[p], marketRow(i, rows, p))
		}
	}
	return s
}

func totals(i int) serving.Totals {
	n := int64(i)
	return serving.Totals{
		Fills: 10 + n, MakerFills: 4, TakerFills: 6 + n, UnmappedFills: n % 2, Markets: 3, ActiveDays: 2,
		ResolvedMarkets: 3 * (n % 2), WinningMarkets: n % 2, NegativeLegs: n % 5,
		FirstTS: AsOf.Add(-300 * time.Hour).UnixMicro(), LastTS: AsOf.Add(-time.Duration(i) * time.Second).UnixMicro(),
		BuyUSD: data.Micro(1_500_000_000 + n), SellUSD: 250_000_001, FeeUSD: 1_250_000,
		NetCash: data.Micro(-1_250_000_000 - n), Redemption: 1_750_000_000, UnresolvedCash: -100_000_000,
	}
}

func traderRow(i, rows int, p serving.Period) serving.TraderRow {
	left := data.Micro(rows - i)
	return serving.TraderRow{
		Rank: i + 1, Wallet: Wallet(i), Name: fmt.Sprintf("trader %d", i),
		RealPnL: left * 1_000_001, NetCash: -left * 2_000_000, Redemption: left * 3_000_001,
		BuyUSD: left * 7_000_000, SellUSD: left * 5_000_000, Fills: int64(left) * int64(p+1),
		RealPnLAllTime: left * 9_000_000, VolumeAllTime: left * 90_000_000,
		ResolvedMarkets: 7, WinningMarkets: 2, FirstTS: 1, LastTS: AsOf.UnixMicro(),
	}
}

func marketRow(i, rows int, p serving.Period) serving.MarketRow {
	left := data.Micro(rows - i)
	closed := i%2 == 0
	return serving.MarketRow{
		Rank: i + 1, Condition: data.Hash{byte(i), byte(i >> 8), 0xab},
		Question: fmt.Sprintf("Will \"it\" rain on day %d?", i), Slug: fmt.Sprintf("rain-%d", i),
		EventID: "17", EventSlug: "rain", Category: "weather", Outcomes: []string{"Yes", "No"},
		VolumeUSD: left * 11_000_000 * data.Micro(p+1), VolumeShares: left * 20_000_000, Trades: int64(left),
		Basis: serving.TakerUSD, VolumeAllTime: left * 99_000_000, Traders: 12,
		Resolved: i%3 == 0, Closed: &closed, EndTS: AsOf.Add(24 * time.Hour).UnixMicro(), LastTS: AsOf.UnixMicro(),
	}
}

// Clock is a clock that stands still until it is moved.
type Clock struct{ at atomic.Int64 }

// NewClock returns a clock that shows t.
func NewClock(t time.Time) *Clock {
	c := &Clock{}
	c.Set(t)
	return c
}

// Now returns the time of the clock.
func (c *Clock) Now() time.Time { return time.Unix(0, c.at.Load()).UTC() }

// Set moves the clock to t.
func (c *Clock) Set(t time.Time) { c.at.Store(t.UnixNano()) }

// Add moves the clock by d.
func (c *Clock) Add(d time.Duration) { c.at.Add(int64(d)) }

// Source is an api.Source whose results are set by tests.
type Source struct {
	mu    sync.Mutex
	snap  *serving.Snapshot
	fresh serving.Freshness
	err   error
	pings int
}

// NewSource returns a source of snap, which may be nil.
func NewSource(snap *serving.Snapshot) *Source { return &Source{snap: snap} }

// Snapshot returns the snapshot that the source was made with.
func (s *Source) Snapshot() *serving.Snapshot { return s.snap }

// Ping fails if Break was called.
func (s *Source) Ping(context.Context) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.pings++
	return s.err
}

// Pings returns the number of calls of Ping.
func (s *Source) Pings() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.pings
}

// Break makes Ping fail from now on.
func (s *Source) Break() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.err = errors.New("database is gone")
}

// Freshness returns what SetFreshness set last.
func (s *Source) Freshness() serving.Freshness {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.fresh
}

// SetFreshness sets the result of Freshness.
func (s *Source) SetFreshness(f serving.Freshness) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.fresh = f
}

// Store is an access.KeyStore in memory.
type Store struct {
	mu       sync.Mutex
	revision int64
	records  []record.Key
	Uses     []record.Use // all that was saved
	Err      error        // error of every method, if set
}

// Issue adds a key of tier made from number n and returns its secret.
func (s *Store) Issue(tier access.Tier, n int) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	secret, hash, _ := access.NewSecret(&numbers{n: uint64(n)}) // numbers never fail
	s.records = append(s.records, record.Key{Hash: hash, Tier: tier.String()})
	s.revision++
	return secret
}

// Change runs fn on the record of secret.
func (s *Store) Change(secret string, fn func(r *record.Key)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	hash, _ := access.HashOf([]byte(secret))
	for i := range s.records {
		if s.records[i].Hash == hash {
			fn(&s.records[i])
		}
	}
	s.revision++
}

// Revision returns the number of changes.
func (s *Store) Revision(context.Context) (int64, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.revision, s.Err
}

// Keys returns a copy of the records.
func (s *Store) Keys(context.Context) ([]record.Key, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]record.Key(nil), s.records...), s.Err
}

// AddUse records uses.
func (s *Store) AddUse(_ context.Context, uses []record.Use) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.Err == nil {
		s.Uses = append(s.Uses, uses...)
	}
	return s.Err
}

// Account returns the recorded uses from day since on.
func (s *Store) Account(_ context.Context, hash [32]byte, since string) (record.Account, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	a := record.Account{Label: "my dashboard", CreatedAt: AsOf.Add(-24 * time.Hour)}
	for _, r := range s.records {
		if r.Hash == hash && r.Expires > 0 {
			a.ExpiresAt = time.Unix(r.Expires, 0).UTC()
		}
	}
	for _, u := range s.Uses {
		if day := u.LastUsed.Format(time.DateOnly); u.Hash == hash && day >= since {
			a.Usage = append(a.Usage, record.Usage{Day: day, Endpoint: u.Endpoint, Requests: u.Requests})
		}
	}
	return a, s.Err
}

// numbers is a predictable source of "random" bytes.
type numbers struct{ n uint64 }

func (r *numbers) Read(p []byte) (int, error) {
	for i := range p {
		r.n = r.n*6364136223846793005 + 1442695040888963407
		p[i] = byte(r.n >> 56)
	}
	return len(p), nil
}

// Loopback is the client address of requests made by Do.
var Loopback = &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 50000}

// Do answers req with handler as if it came from the address from; nil is Loopback.
func Do(handler fasthttp.RequestHandler, req *fasthttp.Request, from net.Addr) *fasthttp.Response {
	if from == nil {
		from = Loopback
	}
	var ctx fasthttp.RequestCtx
	ctx.Init(req, from, nil)
	handler(&ctx)
	res := &fasthttp.Response{}
	ctx.Response.CopyTo(res)
	return res
}
