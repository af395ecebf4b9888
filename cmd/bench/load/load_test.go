package load_test

import (
	"errors"
	"net"
	"testing"
	"time"

	"github.com/valyala/fasthttp"
	"go.uber.org/goleak"

	"pmx/cmd/bench/load"
)

func TestMain(m *testing.M) {
	goleak.VerifyTestMain(m,
		// Goroutines of fasthttp, of the server under load: both end by themselves.
		goleak.IgnoreAnyFunction("github.com/valyala/fasthttp.updateServerDate.func1"),
		goleak.IgnoreAnyFunction("github.com/valyala/fasthttp.(*workerPool).Start.func2"),
	)
}

func TestRunMeasuresALoopbackServer(t *testing.T) {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	server := &fasthttp.Server{Handler: func(ctx *fasthttp.RequestCtx) {
		if string(ctx.Path()) == "/bad" {
			ctx.SetStatusCode(429)
		}
		ctx.WriteString("body")
	}}
	done := make(chan error, 1)
	go func() { done <- server.Serve(ln) }()
	r, err := load.Run(t.Context(), load.Config{
		Addr: ln.Addr().String(), Paths: []string{"/good", "/bad"}, Conns: 3, Duration: 50 * time.Millisecond,
	})
	if err != nil || r.Requests == 0 || r.Errors == 0 || r.P50 <= 0 || r.P99 < r.P50 || r.Bytes != 4*r.Requests || r.PerSecond <= 0 {
		t.Errorf("r = %+v, err = %v", r, err)
	}
	if err := errors.Join(server.Shutdown(), <-done); err != nil {
		t.Error(err)
	}
}

func TestRunRefusesWhatIsNotOnThisMachine(t *testing.T) {
	for _, addr := range []string{"192.0.2.1:80", "example.com:80", "0.0.0.0:80", "127.0.0.1"} {
		if _, err := load.Run(t.Context(), load.Config{Addr: addr, Paths: []string{"/"}, Conns: 1, Duration: time.Second}); err == nil {
			t.Errorf("%s was not refused", addr)
		}
	}
	ok := load.Config{Addr: "127.0.0.1:1", Paths: []string{"/"}, Conns: 1, Duration: load.MaxDuration + 1}
	if _, err := load.Run(t.Context(), ok); err == nil {
		t.Error("a run of more than MaxDuration was not refused")
	}
}
