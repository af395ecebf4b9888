package api_test

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/gofiber/fiber/v2"
	"github.com/rs/zerolog"
	"github.com/valyala/fasthttp"

	"pmx/http/access"
	"pmx/http/api"
	"pmx/http/api/apitest"
	"pmx/http/server"
	"pmx/http/wire"
)

const benchWallets = 100_000

// benchServer serves a synthetic venue with many alpha keys, so that no rate limit is reached.
func benchServer(b *testing.B) (fasthttp.RequestHandler, []string) {
	b.Helper()
	store := &apitest.Store{}
	var keys []string
	for i := range 500 {
		keys = append(keys, store.Issue(access.Alpha, i+1))
	}
	gate, err := access.NewGate(b.Context(), store, zerolog.Nop())
	if err != nil {
		b.Fatal(err)
	}
	source := apitest.NewSource(apitest.Snapshot(1, benchWallets, 1000))
	a, err := api.New(api.Config{Source: source, Gate: gate, Version: "bench", CursorKey: make([]byte, 32), Now: time.Now})
	if err != nil {
		b.Fatal(err)
	}
	s, err := server.New(server.Config{API: a, Listen: "127.0.0.1:0", Log: zerolog.Nop()})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = s.Close() })
	return s.Handler(), keys
}

type discard struct{}

func (discard) Write(p []byte) (int, error) { return len(p), nil }

// run sends requests made by prepare through handler, writing the responses to
// memory as a server would.
func run(b *testing.B, handler fasthttp.RequestHandler, prepare func(req *fasthttp.Request, i int)) {
	b.Helper()
	var ctx fasthttp.RequestCtx
	ctx.Init(&fasthttp.Request{}, apitest.Loopback, nil)
	ctx.Request.Header.SetHost("pmx.test")
	ctx.Request.Header.SetMethod(fiber.MethodGet)
	var wireBytes []byte
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		prepare(&ctx.Request, i)
		handler(&ctx)
		if ctx.Response.StatusCode() != fiber.StatusOK {
			b.Fatalf("%d: %s", ctx.Response.StatusCode(), ctx.Response.Body())
		}
		wireBytes = append(append(wireBytes[:0], ctx.Response.Header.Header()...), ctx.Response.Body()...)
		ctx.Response.Reset()
		ctx.ResetUserValues()
	}
	b.SetBytes(int64(len(wireBytes)))
}

func BenchmarkLeaderboard(b *testing.B) {
	for _, limit := range []string{"5", "200"} {
		b.Run("limit="+limit, func(b *testing.B) {
			handler, keys := benchServer(b)
			path := wire.Base + "/leaderboard/traders?period=7d&limit=" + limit
			run(b, handler, func(req *fasthttp.Request, i int) {
				req.SetRequestURI(path)
				req.Header.Set(wire.KeyHeader, keys[i%len(keys)])
			})
		})
	}
}

func BenchmarkTraderStats(b *testing.B) {
	handler, keys := benchServer(b)
	random := rand.New(rand.NewPCG(1, 2))
	paths := make([]string, 4096)
	for i := range paths {
		paths[i] = wire.Base + "/trader/" + apitest.Wallet(random.IntN(benchWallets)).String() + "/stats"
	}
	run(b, handler, func(req *fasthttp.Request, i int) {
		req.SetRequestURI(paths[i%len(paths)])
		req.Header.Set(wire.KeyHeader, keys[i%len(keys)])
	})
}

// BenchmarkConstantBody is the baseline: a Fiber app that sends bytes of the same size.
func BenchmarkConstantBody(b *testing.B) {
	for name, size := range map[string]int{"1.1KB": 1100, "2.6KB": 2600, "75KB": 75_000} {
		b.Run(name, func(b *testing.B) {
			run(b, constant(size), func(req *fasthttp.Request, _ int) {
				req.SetRequestURI(wire.Base + "/leaderboard/traders?period=7d&limit=5")
				req.Header.Set(wire.KeyHeader, "pmx_0123456789012345678901234567890123456789012")
			})
		})
	}
}
