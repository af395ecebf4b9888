package server

import (
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"pmx/rollups/serving"
)

// collected makes the metrics of given sources a Collector.
type collected struct {
	*sourceMetrics
	sources []serving.Source
}

func (c *collected) Describe(ch chan<- *prometheus.Desc) { c.describe(ch) }

func (c *collected) Collect(ch chan<- prometheus.Metric) { c.collect(ch, c.sources) }

func TestMetricsReportTheStatusOfSources(t *testing.T) {
	now := time.Date(2026, 3, 14, 12, 0, 0, 0, time.UTC)
	c := &collected{newSourceMetrics(), []serving.Source{
		{Name: "chain", State: serving.SourceQuarantine, AsOf: now.Add(-90 * time.Second), CatchingUp: true, Progress: 0.25, Quiet: true,
			Rows: 1, Requests: 2, Retries: 3, Throttled: 4500 * time.Millisecond, Unknown: 5, Missing: 6,
			Hosts: []serving.SourceHost{{Name: "rpc 1", State: serving.HostAnswers, Requests: map[int]int64{200: 7}}, {Name: "rpc 2", State: serving.HostFails,
				Requests: map[int]int64{0: 8, 503: 9}}}},
		{Name: "markets", State: serving.SourceIdle, Incomplete: true, Differences: map[string]int64{"trades": 7, "blocks": 0}},
	}}
	c.now = func() time.Time { return now }
	registry := prometheus.NewPedanticRegistry()
	registry.MustRegister(c)
	families, err := registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]float64{}
	for _, family := range families {
		for _, m := range family.GetMetric() {
			name := family.GetName()
			for _, l := range m.GetLabel() {
				name += " " + l.GetValue()
			}
			got[name] = m.GetCounter().GetValue() + m.GetGauge().GetValue()
		}
	}
	for name, want := range map[string]float64{
		"pmx_sync_lag_seconds chain": 90, "pmx_sync_source_state chain quarantine": 1, "pmx_sync_source_state chain idle": 0, "pmx_sync_source_state markets idle": 1,
		"pmx_sync_quiet chain": 1, "pmx_sync_quiet markets": 0, "pmx_sync_catch_up_progress chain": 0.25, "pmx_sync_catch_up_progress markets": 1,
		"pmx_sync_gap_blocks chain": 6, "pmx_sync_rows_total chain": 1, "pmx_sync_requests_total chain": 2, "pmx_sync_retries_total chain": 3,
		"pmx_sync_throttled_seconds_total chain": 4.5, "pmx_sync_unknown_total chain": 5,
		"pmx_sync_audit_difference trades markets": 7, "pmx_sync_audit_difference blocks markets": 0,
		"pmx_sync_incomplete chain": 0, "pmx_sync_incomplete markets": 1,
		"pmx_sync_host_state rpc 1 chain answers": 1, "pmx_sync_host_state rpc 2 chain answers": 0, "pmx_sync_host_state rpc 2 chain fails": 1,
		"pmx_sync_host_requests_total 200 rpc 1 chain": 7, "pmx_sync_host_requests_total 503 rpc 2 chain": 9, "pmx_sync_host_requests_total 0 rpc 2 chain": 8,
	} {
		if value, ok := got[name]; !ok || value != want {
			t.Errorf("%s is %v, want %v", name, value, want)
		}
	}
	if _, ok := got["pmx_sync_lag_seconds markets"]; ok {
		t.Error("a source that has given nothing has a lag")
	}
}
