package server_test

import (
	"net/http"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil/promlint"

	"pmx/http/server"
	"pmx/http/wire"
)

func TestRateLimitsAreCountedByPlan(t *testing.T) {
	r := serve(t, nil, nil)
	registry := prometheus.NewPedanticRegistry()
	registry.MustRegister(r.Collector())
	for range 63 { // three more than an address may fail
		ask(t, http.DefaultClient, "GET", r.URL()+leaderboard, wire.KeyHeader+": wrong")
	}
	ask(t, http.DefaultClient, "GET", r.URL()+"/nowhere")
	if err := r.stop(); err != nil {
		t.Fatal(err)
	}
	got := gathered(t, registry)
	for plan, want := range map[string]float64{"none": 3, "free": 0, "explorer": 0, "trader": 0, "alpha": 0} {
		if n, there := got["pmx_http_limited_total "+plan]; !there || n != want {
			t.Errorf("%s: n = %v, want %v", plan, n, want)
		}
	}
}

// Names and units are those that promtool check metrics accepts.
func TestNamesOfMetricsAreClean(t *testing.T) {
	certFile, keyFile, _ := certificate(t)
	r := serve(t, nil, func(c *server.Config) { c.TLSCert, c.TLSKey = certFile, keyFile })
	registry := prometheus.NewPedanticRegistry()
	registry.MustRegister(r.Collector())
	families, err := registry.Gather()
	if err != nil || len(families) < 7 {
		t.Fatalf("%d families, %v", len(families), err)
	}
	problems, err := promlint.NewWithMetricFamilies(families).Lint()
	if err != nil || len(problems) > 0 {
		t.Errorf("problems = %+v, err = %v", problems, err)
	}
}
