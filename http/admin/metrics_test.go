package admin_test

import (
	"context"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus"

	"pmx/http/admin"
)

func TestMetricsHaveAnAddressOfTheirOwn(t *testing.T) {
	m, err := admin.ListenMetrics("127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := admin.ListenMetrics(m.Addr().String()); err == nil || !strings.Contains(err.Error(), "--metrics-listen") {
		t.Errorf("taken twice: %v", err)
	}
	registry := prometheus.NewPedanticRegistry()
	n := prometheus.NewGauge(prometheus.GaugeOpts{Name: "pmx_test", Help: "A test."})
	n.Set(7)
	registry.MustRegister(n)
	ctx, stop := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- m.Serve(ctx, registry) }()
	for _, c := range []struct {
		method, path string
		status       int
		body         string
	}{{"GET", "/metrics", 200, "pmx_test 7"}, {"GET", "/", 404, ""}, {"POST", "/metrics", 405, ""}, {"POST", "/call/import", 404, ""}, {"GET", "/debug/pprof/", 404, ""}} {
		req, err := http.NewRequestWithContext(t.Context(), c.method, "http://"+m.Addr().String()+c.path, nil)
		if err != nil {
			t.Fatal(err)
		}
		res, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		body, err := io.ReadAll(res.Body)
		_ = res.Body.Close()
		if err != nil || res.StatusCode != c.status || !strings.Contains(string(body), c.body) {
			t.Errorf("%s %s: status = %d, body = %s, err = %v", c.method, c.path, res.StatusCode, body, err)
		}
	}
	http.DefaultClient.CloseIdleConnections()
	stop()
	if err := <-done; err != nil {
		t.Error(err)
	}
	if _, err := http.Get("http://" + m.Addr().String() + "/metrics"); err == nil {
		t.Error("it answers after it was stopped")
	}
	m.Close()
}

func TestUnusedMetricsReleaseTheirAddress(t *testing.T) {
	m, err := admin.ListenMetrics("127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	m.Close()
	again, err := admin.ListenMetrics(m.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	again.Close()
}
