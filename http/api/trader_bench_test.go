package api_test

import (
	"context"
	"fmt"
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

// sameWallet reads the same rows for every wallet, at no cost of its own.
type sameWallet struct {
	rest
	fills  []serving.Fill
	tokens []serving.TokenSum
	days   []serving.DaySum
}

func (r *sameWallet) WalletFills(_ context.Context, dst []serving.Fill, _ data.WalletID, _ int64, _ *serving.Fill, n int) ([]serving.Fill, error) {
	return append(dst, r.fills[:min(n, len(r.fills))]...), nil
}

func (r *sameWallet) WalletTokens(_ context.Context, dst []serving.TokenSum, _ data.WalletID, _ int64) ([]serving.TokenSum, error) {
	return append(dst, r.tokens...), nil
}

func (r *sameWallet) WalletDays(_ context.Context, dst []serving.DaySum, _ data.WalletID, _ int64) ([]serving.DaySum, error) {
	return append(dst, r.days...), nil
}

func (r *sameWallet) WalletInMemory(data.WalletID, int64) bool { return true }

// BenchmarkWallet measures what the handlers of one wallet cost beyond the reads.
func BenchmarkWallet(b *testing.B) {
	snap, c := apitest.Snapshot(1, 10, 0), serving.NewCatalogBuilder()
	r := &sameWallet{}
	for i := range int32(60) {
		c.Set(&serving.Market{ID: i, Condition: data.Hash{byte(i)}, Question: fmt.Sprintf("Will the price of something be above %d on Friday?", i),
			Slug: fmt.Sprint("something-above-", i), EventID: "123", EventSlug: "something", Outcomes: []string{"Yes", "No"},
			Payouts: []data.Micro{data.One, 0}, ResolvedTS: ago(time.Duration(i) * 24 * hour)})
		c.Map(data.TokenID(i), serving.TokenRef{Market: i, ID: "21742633143463906290569050155826241533067272736897614950488156847949938836455"})
		f := serving.Fill{TS: ago(time.Duration(i) * 24 * hour), Tx: data.Hash{9}, Token: data.TokenID(i), Repeat: 1, Role: data.Maker, Shares: 10_000_000, USD: 4_321_000}
		var t serving.TokenSum
		var d serving.DaySum
		t.Add(&f)
		d.Add(&f)
		r.fills, r.tokens, r.days = append(r.fills, f), append(r.tokens, t), append(r.days, d)
	}
	snap.Catalog = c.Seal()
	store := &apitest.Store{}
	var keys []string
	for i := range 500 {
		keys = append(keys, store.Issue(access.Alpha, i+1))
	}
	gate, err := access.NewGate(b.Context(), store, zerolog.Nop())
	if err != nil {
		b.Fatal(err)
	}
	a, err := api.New(api.Config{Source: apitest.NewSource(snap), Reader: r, Gate: gate, Version: "bench", CursorKey: make([]byte, 32), Now: time.Now})
	if err != nil {
		b.Fatal(err)
	}
	s, err := server.New(server.Config{API: a, Listen: "127.0.0.1:0", Log: zerolog.Nop()})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = s.Close() })
	for _, what := range []string{"trades", "markets", "activity/daily"} {
		b.Run(what, func(b *testing.B) {
			path := wire.Base + "/trader/" + apitest.Wallet(3).String() + "/" + what
			run(b, s.Handler(), func(req *fasthttp.Request, i int) {
				req.SetRequestURI(path)
				req.Header.Set(wire.KeyHeader, keys[i%len(keys)])
			})
		})
	}
}
