package main

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil/promlint"

	"pmx/engine"
	"pmx/engine/control"
	"pmx/engine/enginetest"
	"pmx/engine/export/job"
	"pmx/rollups/serving"
)

// gathered returns the values of all metrics without labels, and of those with one label by name
// and label. It fails if promtool would.
func gathered(t *testing.T, c prometheus.Collector) map[string]float64 {
	t.Helper()
	registry := prometheus.NewPedanticRegistry()
	registry.MustRegister(c)
	families, err := registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	problems, err := promlint.NewWithMetricFamilies(families).Lint()
	if err != nil || len(problems) > 0 {
		t.Errorf("problems = %+v, err = %v", problems, err)
	}
	values := map[string]float64{}
	for _, f := range families {
		for _, m := range f.GetMetric() {
			name := f.GetName()
			for _, l := range m.GetLabel() {
				name += " " + l.GetValue()
			}
			values[name] = m.GetGauge().GetValue()
		}
	}
	return values
}

// A time of something that has never happened is absent: with 0, an alert would see an age of
// decades.
func TestMetricsOfTheStore(t *testing.T) {
	dir := t.TempDir()
	db, err := engine.Open(context.Background(), enginetest.Options(t, dir, "1GB"))
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	keys, err := control.Open(t.Context(), engine.Dir(dir).Control(), time.Now)
	if err != nil {
		t.Fatal(err)
	}
	defer keys.Close()
	var fresh serving.Freshness
	var snapshot *serving.Snapshot
	m := newStoreMetrics(func() serving.Freshness { return fresh }, func() *serving.Snapshot { return snapshot }, db, keys, nil)
	got := gathered(t, m)
	for _, absent := range []string{"pmx_data_as_of_timestamp_seconds", "pmx_fills_imported_timestamp_seconds", "pmx_markets_imported_timestamp_seconds",
		"pmx_refresh_finished_timestamp_seconds", "pmx_refresh_failed_timestamp_seconds", "pmx_verify_finished_timestamp_seconds", "pmx_served_rows fills",
		"pmx_backup_finished_timestamp_seconds schedule", "pmx_backup_due_timestamp_seconds", "pmx_export_queued_since_timestamp_seconds",
		"pmx_checkpoint_owed_since_timestamp_seconds"} {
		if v, there := got[absent]; there {
			t.Errorf("%s is %v before anything happened", absent, v)
		}
	}
	for _, none := range []string{"pmx_refresh_failing", "pmx_rollups_stale", "pmx_verify_failing", "pmx_disk_full", "pmx_database_log_damaged", "pmx_duckdb_spilled_bytes", "pmx_export_jobs queued", "pmx_export_jobs failed"} {
		if v, there := got[none]; !there || v != 0 {
			t.Errorf("%s is %v, there %v", none, v, there)
		}
	}
	for _, some := range []string{"pmx_disk_used_bytes database", "pmx_disk_free_bytes", "pmx_disk_size_bytes", "pmx_duckdb_memory_bytes"} {
		if got[some] <= 0 {
			t.Errorf("%s is %v", some, got[some])
		}
	}
	at := func(s int64) time.Time { return time.Unix(s, 5e8) }
	fresh = serving.Freshness{LastFills: at(1), LastMarkets: at(2), LastCycle: at(3), LastFailure: at(4), LastVerified: at(5),
		Scheduled: serving.BackupStatus{Made: at(8), Failed: at(9), Failing: true, Bytes: 17, Seconds: 18}, Asked: serving.BackupStatus{Made: at(10)}, BackupDue: at(11),
		FailureText: "x", VerifyFailure: "x", Stale: true, DiskFull: true, LogLost: true}
	snapshot = &serving.Snapshot{AsOf: at(6), Counts: serving.Counts{Fills: 10, Wallets: 11, Markets: 12, ResolvedMarkets: 13, Events: 14, UnmappedFills: 15}}
	m.jobs = func(context.Context) (map[job.Status]int, time.Time, error) {
		return map[job.Status]int{job.Queued: 16}, at(7), nil
	}
	m.owed = func() time.Time { return at(19) }
	m.memory = func(context.Context) (int64, int64, error) { return 0, 0, errors.New("too late") }
	got = gathered(t, m)
	for name, want := range map[string]float64{
		"pmx_fills_imported_timestamp_seconds": 1.5, "pmx_markets_imported_timestamp_seconds": 2.5, "pmx_refresh_finished_timestamp_seconds": 3.5,
		"pmx_refresh_failed_timestamp_seconds": 4.5, "pmx_verify_finished_timestamp_seconds": 5.5, "pmx_data_as_of_timestamp_seconds": 6.5,
		"pmx_refresh_failing": 1, "pmx_rollups_stale": 1, "pmx_verify_failing": 1, "pmx_disk_full": 1, "pmx_database_log_damaged": 1,
		"pmx_backup_finished_timestamp_seconds schedule": 8.5, "pmx_backup_failed_timestamp_seconds schedule": 9.5, "pmx_backup_failing schedule": 1, "pmx_backup_written_bytes schedule": 17,
		"pmx_backup_duration_seconds schedule": 18, "pmx_backup_finished_timestamp_seconds command": 10.5, "pmx_backup_failing command": 0, "pmx_backup_due_timestamp_seconds": 11.5,
		"pmx_export_jobs queued": 16, "pmx_export_queued_since_timestamp_seconds": 7.5, "pmx_served_rows fills": 10, "pmx_served_rows wallets": 11, "pmx_served_rows markets": 12, "pmx_served_rows resolved_markets": 13,
		"pmx_checkpoint_owed_since_timestamp_seconds": 19.5, "pmx_served_rows events": 14, "pmx_served_rows fills_without_market": 15,
	} {
		if got[name] != want {
			t.Errorf("%s is %v, want %v", name, got[name], want)
		}
	}
	if _, there := got["pmx_backup_duration_seconds command"]; there {
		t.Error("a backup of another process is shown with how long it took")
	}
	if _, there := got["pmx_duckdb_memory_bytes"]; there {
		t.Error("what DuckDB did not say is shown")
	}
}
