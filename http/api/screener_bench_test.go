package api_test

import (
	"encoding/binary"
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/rs/zerolog"
	"github.com/valyala/fasthttp"

	"pmx/data"
	"pmx/http/access"
	"pmx/http/api"
	"pmx/http/api/apitest"
	"pmx/http/server"
	"pmx/http/wire"
	"pmx/rollups/serving"
)

// crowd adds n synthetic markets: most of them are closed, and a few per cent are traded today.
// Titles have a few frequent and many rare words.
func crowd(s *marketsBuilder, from, n int) {
	r := rand.New(rand.NewPCG(5, uint64(from)))
	names := rand.NewZipf(r, 1.15, 4, 150_000)
	common := strings.Fields("will the be in on by of to price above win or at yes october november")
	yes, no := true, false
	for id := from; id < from+n; id++ {
		var title []string
		for range 5 + r.IntN(9) {
			if r.IntN(3) > 0 {
				title = append(title, common[r.IntN(len(common))])
			} else {
				title = append(title, syllables(names.Uint64()))
			}
		}
		event := fmt.Sprintf("event-%d", id/20)
		m := &serving.Market{
			ID: int32(id), Question: strings.Join(title, " "), Slug: strings.Join(title, "-"), EventID: fmt.Sprint(id / 20), EventSlug: event,
			EventTitle: title[0] + " " + event, Category: []string{"sports", "crypto", "politics", "weather", ""}[r.IntN(5)],
			Tags: []string{fmt.Sprintf("tag-%d", r.IntN(300)), fmt.Sprintf("t-%d", r.IntN(10))}, Closed: &yes,
			CreatedTS: 1_600_000_000_000_000 + int64(id)*100_000_000,
		}
		binary.BigEndian.PutUint64(m.Condition[:], (uint64(id)+1)*0x9e3779b97f4a7c15)
		m.EndTS = m.CreatedTS + r.Int64N(90*86_400)*1_000_000
		volume := data.Micro(0)
		if r.IntN(10) < 6 {
			volume = data.Micro(math.Exp(r.NormFloat64()*3+8) * 1e4)
		}
		if open := r.IntN(from+n) < id/20; open {
			m.Closed = &no
		} else {
			m.Payouts = []data.Micro{data.One, 0}
		}
		day := data.Micro(0)
		if m.Closed == &no {
			day = volume / data.Micro(1+r.Int64N(50))
		}
		s.put(m, day, func(f *serving.Figures) {
			f.VolumeUSD, f.Trades, f.Traders = volume, int64(volume/50_000_000), int32(min(volume/100_000_000, 1_000_000))
			f.Price = data.Micro(r.Int64N(1_000_000))
		})
	}
}

func syllables(n uint64) string {
	x := n*0x9e3779b97f4a7c15 + 12345
	var b strings.Builder
	for range 2 + x%3 {
		x ^= x >> 29
		x *= 0xbf58476d1ce4e5b9
		b.WriteByte("bcdfghklmnprstvw"[x>>60])
		b.WriteByte("aeiou"[x>>32%5])
	}
	return b.String()
}

// crowded serves n markets to many alpha keys.
func crowded(b *testing.B, s *marketsBuilder, n int) (fasthttp.RequestHandler, []string) {
	b.Helper()
	crowd(s, 0, n)
	at := time.Now()
	snap := s.snapshot()
	b.Logf("%d markets in %v", n, time.Since(at))
	store := &apitest.Store{}
	var keys []string
	for i := range 500 {
		keys = append(keys, store.Issue(access.Alpha, i+1))
	}
	gate, err := access.NewGate(b.Context(), store, zerolog.Nop())
	if err != nil {
		b.Fatal(err)
	}
	a, err := api.New(api.Config{Source: apitest.NewSource(snap), Gate: gate, Version: "bench", CursorKey: make([]byte, 32), Now: time.Now})
	if err != nil {
		b.Fatal(err)
	}
	srv, err := server.New(server.Config{API: a, Listen: "127.0.0.1:0", Log: zerolog.Nop(), RequestLog: discard{}})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = srv.Close() })
	return srv.Handler(), keys
}

// BenchmarkScreenerSocket is BenchmarkSocket of the page without filters.
func BenchmarkScreenerSocket(b *testing.B) {
	handler, keys := crowded(b, newMarketsBuilder(), 20_000)
	ofFloor(b, handler, keys, []string{wire.Base + "/screener"})
}

// BenchmarkMillionMarkets asks for all kinds of pages among a million markets,
// through everything but the socket.
func BenchmarkMillionMarkets(b *testing.B) {
	handler, keys := crowded(b, newMarketsBuilder(), 1_000_000)
	runtime.GC()
	for _, path := range []string{
		"/screener?limit=200", "/screener?sort=volume", "/screener?sort=price", "/screener?sort=created_at&order=asc", "/screener?sort=liquidity&limit=200",
		"/screener?category=crypto&status=open", "/screener?tag=tag-7&sort=volume_7d", "/screener?event_id=event-77", "/screener?neg_risk=true",
		"/screener?max_price=0.9&min_trades=1&min_traders=1&ends_after=2021-01-01&sort=price_change_24h&category=crypto&category=sports&limit=200",
		"/screener?min_volume_24h=5&max_volume_24h=5.01", "/screener?q=w&sort=volume&order=asc", "/screener?q=will+the&category=sports",
		"/screener/summary", "/screener/summary?q=w",
		"/markets/search?q=w", "/markets/search?q=will", "/markets/search?q=will+the+be+in+on+by+of+to", "/markets/search?q=a+b+c+d+e+f+g+h",
		"/markets/search?q=bitcon+price", "/markets/search?q=w&status=closed", "/markets/search?q=octobre&category=crypto",
	} {
		b.Run(path, func(b *testing.B) {
			var took []time.Duration
			var last time.Time
			cpu := processor()
			run(b, handler, func(req *fasthttp.Request, i int) {
				if now := time.Now(); !last.IsZero() {
					took = append(took, now.Sub(last))
				}
				last = time.Now()
				req.SetRequestURI(wire.Base + path)
				req.Header.Set(wire.KeyHeader, keys[i%len(keys)])
			})
			b.ReportMetric(float64((processor()-cpu).Microseconds())/float64(b.N), "cpu-µs")
			if len(took) > 0 {
				slices.Sort(took)
				b.ReportMetric(float64(took[len(took)/2].Microseconds()), "p50-µs")
				b.ReportMetric(float64(took[len(took)*99/100].Microseconds()), "p99-µs")
			}
		})
	}
}

// processor returns the processor time of this process, on which other programs have less effect
// than on elapsed time.
func processor() time.Duration {
	var u syscall.Rusage
	_ = syscall.Getrusage(syscall.RUSAGE_SELF, &u)
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// BenchmarkNextOfAMillion measures a snapshot in which a thousand of a million markets changed and
// a hundred are new.
func BenchmarkNextOfAMillion(b *testing.B) {
	s := newMarketsBuilder()
	crowd(s, 0, 1_000_000)
	s.snapshot()
	r, next := rand.New(rand.NewPCG(1, 2)), 1_000_000
	for b.Loop() {
		for range 1000 {
			id := int32(950_000 + r.IntN(50_000))
			f := serving.NewFigures(serving.TakerUSD)
			f.Volume24h, f.VolumeUSD = data.Micro(r.Int64N(1e9)), data.Micro(r.Int64N(1e12))
			s.catalog.SetFigures(id, f)
		}
		crowd(s, next, 100)
		next += 100
		c := s.catalog.Seal()
		s.screener.Next(c)
	}
}
