package main

import (
	"context"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"pmx/engine"
	"pmx/engine/control"
	"pmx/engine/export/job"
	"pmx/engine/guard"
	"pmx/rollups/serving"
)

// askTimeout is how long a database may take to return its counts; after that its metrics are
// absent.
const askTimeout = 2 * time.Second

// storeMetrics are metrics of the data: its age, the outcome of work on it, and its use of disk and
// memory.
type storeMetrics struct {
	fresh    func() serving.Freshness
	snapshot func() *serving.Snapshot
	owed     func() time.Time // since when a checkpoint is owed
	memory   func(context.Context) (held, spilled int64, err error)
	jobs     func(context.Context) (map[job.Status]int, time.Time, error)
	dir      engine.Dir
	watch    *guard.Watch

	asOf, fills, markets, refreshed, refreshFailed, failing, stale, verified, refuted, full, damaged *prometheus.Desc
	backedUp, backupFailed, backupFailing, backupBytes, backupSeconds, backupDue                     *prometheus.Desc
	rows, used, free, size, held, spilled, exports, waiting, putOff                                  *prometheus.Desc
}

func newStoreMetrics(fresh func() serving.Freshness, snapshot func() *serving.Snapshot, db *engine.DB, keys *control.DB, watch *guard.Watch) *storeMetrics {
	desc := func(name, help string, labels ...string) *prometheus.Desc {
		return prometheus.NewDesc("pmx_"+name, help, labels, nil)
	}
	return &storeMetrics{
		fresh: fresh, snapshot: snapshot, owed: db.CheckpointOwed, memory: db.Memory, jobs: keys.JobCounts, dir: db.Dir(), watch: watch,
		asOf:          desc("data_as_of_timestamp_seconds", "Time of the newest fill that is served; absent while there is none."),
		fills:         desc("fills_imported_timestamp_seconds", "When fills were last added; absent if never."),
		markets:       desc("markets_imported_timestamp_seconds", "When markets were last added or changed; absent if never."),
		refreshed:     desc("refresh_finished_timestamp_seconds", "When a refresh last succeeded; absent if none has since the start."),
		refreshFailed: desc("refresh_failed_timestamp_seconds", "When a refresh last failed; absent if none has since the start."),
		failing:       desc("refresh_failing", "1 if the last refresh failed."),
		stale:         desc("rollups_stale", "1 while some stored facts are not in the rollups yet."),
		verified:      desc("verify_finished_timestamp_seconds", "When the whole database was last verified; absent if not since the start."),
		refuted:       desc("verify_failing", "1 if the last verification found something wrong."),
		backedUp:      desc("backup_finished_timestamp_seconds", "When a backup was last made; absent if none is known.", "by"),
		backupFailed:  desc("backup_failed_timestamp_seconds", "When a backup last failed; absent if none did since the start.", "by"),
		backupFailing: desc("backup_failing", "1 if the last backup failed.", "by"),
		backupBytes:   desc("backup_written_bytes", "Bytes written by the last backup; absent if none was made since the start.", "by"),
		backupSeconds: desc("backup_duration_seconds", "How long the last backup took; absent if none was made since the start.", "by"),
		backupDue:     desc("backup_due_timestamp_seconds", "When the next scheduled backup is due after the last one: a backup is overdue if this is in the past. Absent without --backup-dir."),
		full:          desc("disk_full", "1 while nothing new is stored because the disk is full."),
		damaged:       desc("database_log_damaged", "1 while a copy of a damaged log is in the data directory."),
		rows:          desc("served_rows", "Rows that are served, by kind.", "kind"),
		used:          desc("disk_used_bytes", "Size of the files of the data directory, by kind.", "kind"),
		free:          desc("disk_free_bytes", "Free space on the disk of the data directory."),
		size:          desc("disk_size_bytes", "Size of the disk of the data directory."),
		held:          desc("duckdb_memory_bytes", "Memory that DuckDB holds."),
		exports:       desc("export_jobs", "Export jobs that are kept, by status.", "status"),
		waiting:       desc("export_queued_since_timestamp_seconds", "When the oldest queued export job was created; absent while none is queued."),
		putOff:        desc("checkpoint_owed_since_timestamp_seconds", "Since when the log could not be written into the database; absent if the last checkpoint was made."),
		spilled:       desc("duckdb_spilled_bytes", "Bytes that DuckDB moved to temporary files because it ran short of memory."),
	}
}

// Describe lists the metrics.
func (m *storeMetrics) Describe(ch chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{m.asOf, m.fills, m.markets, m.refreshed, m.refreshFailed, m.failing, m.stale, m.verified, m.refuted, m.full, m.damaged,
		m.backedUp, m.backupFailed, m.backupFailing, m.backupBytes, m.backupSeconds, m.backupDue, m.rows, m.used, m.free, m.size, m.held, m.spilled, m.exports, m.waiting, m.putOff} {
		ch <- d
	}
}

// Collect sends the current metrics. It runs in a goroutine of the registry, which does not recover
// from panics.
func (m *storeMetrics) Collect(ch chan<- prometheus.Metric) {
	_ = m.watch.Do("metrics", func() error { m.collect(ch); return nil })
}

// gauges returns functions that send a value, a time if it is not zero, and a condition as 1 or 0.
func gauges(ch chan<- prometheus.Metric) (value func(*prometheus.Desc, float64, ...string), at func(*prometheus.Desc, time.Time, ...string), flag func(*prometheus.Desc, bool, ...string)) {
	value = func(d *prometheus.Desc, v float64, labels ...string) {
		ch <- prometheus.MustNewConstMetric(d, prometheus.GaugeValue, v, labels...)
	}
	at = func(d *prometheus.Desc, t time.Time, labels ...string) {
		if !t.IsZero() {
			value(d, float64(t.UnixMilli())/1e3, labels...)
		}
	}
	flag = func(d *prometheus.Desc, set bool, labels ...string) {
		v := 0.0
		if set {
			v = 1
		}
		value(d, v, labels...)
	}
	return value, at, flag
}

func (m *storeMetrics) collectBackups(ch chan<- prometheus.Metric, f *serving.Freshness) {
	gauge, at, flag := gauges(ch)
	for by, b := range map[string]serving.BackupStatus{"schedule": f.Scheduled, "command": f.Asked, "publish": f.Published} {
		at(m.backedUp, b.Made, by)
		at(m.backupFailed, b.Failed, by)
		flag(m.backupFailing, b.Failing, by)
		if b.Seconds > 0 {
			gauge(m.backupBytes, float64(b.Bytes), by)
			gauge(m.backupSeconds, b.Seconds, by)
		}
	}
}

func (m *storeMetrics) collect(ch chan<- prometheus.Metric) {
	gauge, at, flag := gauges(ch)
	f := m.fresh()
	for d, t := range map[*prometheus.Desc]time.Time{m.fills: f.LastFills, m.markets: f.LastMarkets, m.refreshed: f.LastCycle, m.refreshFailed: f.LastFailure,
		m.verified: f.LastVerified, m.backupDue: f.BackupDue} {
		at(d, t)
	}
	at(m.putOff, m.owed())
	m.collectBackups(ch, &f)
	flag(m.failing, f.FailureText != "")
	flag(m.stale, f.Stale)
	flag(m.refuted, f.VerifyFailure != "")
	flag(m.full, f.DiskFull)
	flag(m.damaged, f.LogLost)
	if s := m.snapshot(); s != nil {
		at(m.asOf, s.AsOf)
		c := &s.Counts
		for kind, n := range map[string]int64{"fills": c.Fills, "wallets": c.Wallets, "markets": c.Markets, "resolved_markets": c.ResolvedMarkets,
			"events": c.Events, "fills_without_market": c.UnmappedFills} {
			gauge(m.rows, float64(n), kind)
		}
	}
	for kind, n := range m.dir.DiskUse() {
		gauge(m.used, float64(n), kind)
	}
	if free, size, ok := m.dir.DiskSpace(); ok {
		gauge(m.free, float64(free))
		gauge(m.size, float64(size))
	}
	ctx, cancel := context.WithTimeout(context.Background(), askTimeout)
	defer cancel()
	if counts, oldest, err := m.jobs(ctx); err == nil {
		at(m.waiting, oldest)
		for status, n := range counts {
			gauge(m.exports, float64(n), string(status))
		}
	}
	if held, spilled, err := m.memory(ctx); err == nil {
		gauge(m.held, float64(held))
		gauge(m.spilled, float64(spilled))
	}
}
