package admin_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/rs/zerolog"
	"go.uber.org/goleak"

	"pmx/http/admin"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// open serves ops on a socket in a directory with a short name until the end of the test.
func open(t *testing.T, ops map[string]admin.Operation) string {
	t.Helper()
	sock := filepath.Join(t.TempDir(), "admin.sock")
	registry := prometheus.NewRegistry()
	registry.MustRegister(prometheus.NewGauge(prometheus.GaugeOpts{Name: "pmx_test"}))
	s, err := admin.Listen(sock, registry, zerolog.Nop())
	if err != nil {
		t.Fatal(err)
	}
	for name, op := range ops {
		s.Handle(name, op)
	}
	ctx, stop := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- s.Serve(ctx) }()
	t.Cleanup(func() {
		stop()
		if err := <-done; err != nil {
			t.Error(err)
		}
		if _, err := os.Lstat(sock); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("the socket was not removed: %v", err)
		}
	})
	return sock
}

func count(_ context.Context, req json.RawMessage, emit func(any)) (any, error) {
	var to int
	if err := json.Unmarshal(req, &to); err != nil {
		return nil, &admin.Error{Code: "invalid_request", Message: "give a number"}
	}
	for i := range to {
		emit(map[string]int{"n": i})
	}
	return "done", nil
}

func TestEventsComeInOrderBeforeTheResult(t *testing.T) {
	sock := open(t, map[string]admin.Operation{"count": count})
	var events []string
	result, err := admin.Call(t.Context(), sock, "count", 3, func(e json.RawMessage) { events = append(events, string(e)) })
	if err != nil || string(result) != `"done"` || strings.Join(events, "") != `{"n":0}{"n":1}{"n":2}` {
		t.Errorf("result %s, events %v, error %v", result, events, err)
	}
}

// An import may get as many paths as a command line can hold.
func TestARequestMayBeLong(t *testing.T) {
	sock := open(t, map[string]admin.Operation{"size": func(_ context.Context, req json.RawMessage, _ func(any)) (any, error) { return len(req), nil }})
	for _, size := range []int{1 << 20, 32 << 20} {
		if result, err := admin.Call(t.Context(), sock, "size", strings.Repeat("x", size), nil); err != nil || string(result) != fmt.Sprint(size+2) {
			t.Errorf("%d bytes: %s, %v", size, result, err)
		}
	}
}

func TestNilResultIsAResult(t *testing.T) {
	sock := open(t, map[string]admin.Operation{"quiet": func(context.Context, json.RawMessage, func(any)) (any, error) { return nil, nil }})
	if result, err := admin.Call(t.Context(), sock, "quiet", nil, nil); err != nil || string(result) != "null" {
		t.Errorf("result = %s, err = %v", result, err)
	}
}

func TestErrorsKeepTheirCode(t *testing.T) {
	sock := open(t, map[string]admin.Operation{
		"count": count,
		"plain": func(context.Context, json.RawMessage, func(any)) (any, error) { return nil, errors.New("disk full") },
		"panic": func(context.Context, json.RawMessage, func(any)) (any, error) { panic("secret detail") },
		"odd":   func(context.Context, json.RawMessage, func(any)) (any, error) { return func() {}, nil },
		"deep": func(context.Context, json.RawMessage, func(any)) (any, error) {
			return nil, fmt.Errorf("import: %w", &admin.Error{Code: "busy", Message: "an import runs"})
		},
	})
	for name, want := range map[string]admin.Error{
		"count":   {Code: "invalid_request", Message: "give a number"},
		"plain":   {Code: "failed", Message: "disk full"},
		"panic":   {Code: "internal", Message: "panic failed inside the server: see its log"},
		"odd":     {Code: "internal", Message: "encode reply: json: unsupported type: func()"},
		"deep":    {Code: "busy", Message: "import: an import runs"},
		"unknown": {Code: "unknown_operation", Message: "the running server does not know unknown: restart it with this version of pmx"},
	} {
		_, err := admin.Call(t.Context(), sock, name, "text", nil)
		var got *admin.Error
		if !errors.As(err, &got) || *got != want || err.Error() != want.Message { // as without a server
			t.Errorf("%s: got %v, want %v", name, err, want)
		}
	}
}

func TestACommandThatDisconnectsCancelsItsOperation(t *testing.T) {
	canceled := make(chan struct{})
	sock := open(t, map[string]admin.Operation{
		"wait": func(ctx context.Context, _ json.RawMessage, emit func(any)) (any, error) {
			emit("started")
			<-ctx.Done()
			close(canceled)
			return nil, ctx.Err()
		},
	})
	ctx, cancel := context.WithCancel(t.Context())
	_, err := admin.Call(ctx, sock, "wait", nil, func(json.RawMessage) { cancel() })
	if !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	<-canceled
}

func TestAnInterruptedCommandIsToldWhatWasDone(t *testing.T) {
	sock := open(t, map[string]admin.Operation{
		"cut": func(ctx context.Context, _ json.RawMessage, emit func(any)) (any, error) {
			emit("started")
			<-ctx.Done()
			emit("kept")
			return nil, ctx.Err()
		},
		"done": func(ctx context.Context, _ json.RawMessage, emit func(any)) (any, error) {
			emit("started")
			<-ctx.Done()
			return "all", nil
		},
	})
	call := func(name string) (string, string, error) {
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		events := ""
		result, err := admin.Call(ctx, sock, name, nil, func(e json.RawMessage) { events += string(e); cancel() })
		return events, string(result), err
	}
	var told *admin.Error
	if events, _, err := call("cut"); events != `"started""kept"` || !errors.Is(err, context.Canceled) || !errors.As(err, &told) || told.Code != admin.CodeCanceled {
		t.Errorf("cut short: %s, %v", events, err)
	}
	if _, result, err := call("done"); result != `"all"` || err != nil {
		t.Errorf("done nevertheless: %s, %v", result, err)
	}
}

func TestStoppingTheServerEndsOperations(t *testing.T) {
	sock := filepath.Join(t.TempDir(), "admin.sock")
	s, err := admin.Listen(sock, nil, zerolog.Nop())
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	s.Handle("wait", func(ctx context.Context, _ json.RawMessage, emit func(any)) (any, error) {
		emit("started")
		<-ctx.Done()
		return nil, errors.New("the server is stopping")
	})
	done := make(chan error, 1)
	go func() { done <- s.Serve(ctx) }()
	_, err = admin.Call(t.Context(), sock, "wait", nil, func(json.RawMessage) { stop() })
	if err == nil || !strings.Contains(err.Error(), "the server is stopping") {
		t.Errorf("got %v", err)
	}
	if err := <-done; err != nil {
		t.Error(err)
	}
}

func TestSocketRules(t *testing.T) {
	sock := open(t, nil)
	if info, err := os.Stat(sock); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("mode %v, %v", info.Mode(), err)
	}
	if !admin.Running(sock) {
		t.Error("a running server was not noticed")
	}
	if _, err := admin.Listen(sock, nil, zerolog.Nop()); !errors.Is(err, admin.ErrRunning) {
		t.Errorf("second server: %v", err)
	}
	none := filepath.Join(t.TempDir(), "none.sock")
	if _, err := admin.Call(t.Context(), none, "x", nil, nil); !errors.Is(err, admin.ErrNotRunning) || admin.Running(none) {
		t.Errorf("no server: %v", err)
	}
	if _, err := admin.Listen("/"+strings.Repeat("x", 107), nil, zerolog.Nop()); err == nil || !strings.Contains(err.Error(), "108 bytes") {
		t.Errorf("long path: %v", err)
	}
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, []byte("precious"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := admin.Listen(file, nil, zerolog.Nop()); err == nil {
		t.Error("a file that is not a socket was replaced")
	}
}

func TestAStaleSocketIsReplaced(t *testing.T) {
	sock := filepath.Join(t.TempDir(), "admin.sock")
	dead, err := net.ListenUnix("unix", &net.UnixAddr{Name: sock, Net: "unix"})
	if err != nil {
		t.Fatal(err)
	}
	dead.SetUnlinkOnClose(false)
	if err := dead.Close(); err != nil {
		t.Fatal(err)
	}
	s, err := admin.Listen(sock, nil, zerolog.Nop())
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	stop()
	if err := s.Serve(ctx); err != nil {
		t.Error(err)
	}
}

func TestMetricsAndHealth(t *testing.T) {
	sock := open(t, nil)
	web := &http.Client{Transport: &http.Transport{DisableKeepAlives: true, DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, "unix", sock)
	}}}
	for path, want := range map[string]string{"/metrics": "pmx_test 0", "/health": "ok"} {
		res, err := web.Get("http://admin" + path)
		if err != nil {
			t.Fatal(err)
		}
		body, err := io.ReadAll(res.Body)
		_ = res.Body.Close()
		if err != nil || !strings.Contains(string(body), want) {
			t.Errorf("%s: body = %s, err = %v", path, body, err)
		}
	}
}
