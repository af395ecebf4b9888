package api_test

import (
	"bytes"
	"context"
	"math/rand/v2"
	"net"
	"testing"
	"time"

	"github.com/gofiber/fiber/v2"
	"github.com/valyala/fasthttp"

	"pmx/cmd/bench/load"
	"pmx/http/api/apitest"
	"pmx/http/wire"
)

// BenchmarkSocket measures the hot endpoints over the loopback in turns with a
// Fiber app that sends a constant body of the same size, and reports the ratio
// of the rates: 1 is Fiber itself.
func BenchmarkSocket(b *testing.B) {
	handler, keys := benchServer(b)
	random := rand.New(rand.NewPCG(1, 2))
	wallets := make([]string, 4096)
	for i := range wallets {
		wallets[i] = wire.Base + "/trader/" + apitest.Wallet(random.IntN(benchWallets)).String() + "/stats"
	}
	leaderboard := wire.Base + "/leaderboard/traders?limit="
	cases := map[string][]string{"leaderboard5": {leaderboard + "5"}, "leaderboard200": {leaderboard + "200"}, "stats": wallets}
	for name, paths := range cases {
		b.Run(name, func(b *testing.B) { ofFloor(b, handler, keys, paths) })
	}
}

// ofFloor asks handler for paths in turns with the constant body.
func ofFloor(b *testing.B, handler fasthttp.RequestHandler, keys, paths []string) {
	b.Helper()
	req := &fasthttp.Request{}
	req.SetRequestURI(paths[0])
	req.Header.Set(wire.KeyHeader, keys[0])
	floor := constant(len(apitest.Do(handler, req, nil).Body()))
	ours, theirs := listen(b, handler), listen(b, floor)
	var rates [2]float64
	for b.Loop() {
		for i, addr := range []string{ours, theirs} {
			r, err := load.Run(context.Background(), load.Config{
				Addr: addr, Paths: paths, Keys: keys, Conns: 8, Duration: 300 * time.Millisecond,
			})
			if err != nil || r.Errors > 0 {
				b.Fatalf("r = %+v, err = %v", r, err)
			}
			rates[i] += r.PerSecond
		}
	}
	b.ReportMetric(rates[0]/rates[1], "of-floor")
	b.ReportMetric(rates[0]/float64(b.N), "req/s")
}

// constant is a Fiber app that sends size bytes to everyone.
func constant(size int) fasthttp.RequestHandler {
	app := fiber.New(fiber.Config{DisableStartupMessage: true})
	body := bytes.Repeat([]byte{0x27}, size) // written to: untouched memory is one shared page
	app.Get("/*", func(c *fiber.Ctx) error {
		c.Set(fiber.HeaderContentType, "application/json; charset=utf-8")
		return c.Send(body)
	})
	return app.Handler()
}

// listen serves handler on a free loopback port until b is over.
func listen(b *testing.B, handler fasthttp.RequestHandler) string {
	b.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		b.Fatal(err)
	}
	s := &fasthttp.Server{Handler: handler, NoDefaultServerHeader: true, ReadTimeout: 10 * time.Second, WriteTimeout: 60 * time.Second}
	done := make(chan error, 1)
	go func() { done <- s.Serve(ln) }()
	b.Cleanup(func() {
		_ = s.Shutdown()
		<-done
	})
	return ln.Addr().String()
}
