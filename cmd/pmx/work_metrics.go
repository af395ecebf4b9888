package main

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"pmx/rollups/keeper"
)

// workMetrics are metrics of the work since the start: imports by feed, work on the database by
// kind, and faults.
type workMetrics struct {
	tally func() keeper.Tally

	build, batches, rows, inserted, rejects, last, filesFailed, works, finished, took, faults *prometheus.Desc
}

func newWorkMetrics(tally func() keeper.Tally) *workMetrics {
	desc := func(name, help string, labels ...string) *prometheus.Desc {
		return prometheus.NewDesc("pmx_"+name, help, labels, nil)
	}
	return &workMetrics{
		tally:       tally,
		build:       desc("build_info", "Always 1; the version that runs.", "version"),
		batches:     desc("import_batches_total", "Imported files, and batches of followed sources, by feed.", "feed"),
		rows:        desc("import_rows_total", "Rows that were read, by feed.", "feed"),
		inserted:    desc("import_inserted_fills_total", "Fills that were added, by feed.", "feed"),
		rejects:     desc("import_rejected_rows_total", "Rows that could not be used, by feed.", "feed"),
		last:        desc("import_finished_timestamp_seconds", "When the newest batch of a feed was imported; absent if there was none since the start.", "feed"),
		filesFailed: desc("import_failed_files_total", "Files that were not imported."),
		works:       desc("work_total", "Refreshes, rebuilds, compactions, checkpoints and verifications, by result; a verification that finds something wrong counts as failed.", "work", "result"),
		finished:    desc("work_finished_timestamp_seconds", "When a kind of work last ended with this result; absent if it has not since the start.", "work", "result"),
		took:        desc("work_duration_seconds", "Duration of the last work of a kind; absent if there was none since the start.", "work"),
		faults:      desc("database_faults_total", "Internal failures of DuckDB, by whether the database could be opened again.", "reopened"),
	}
}

// Describe lists the metrics.
func (m *workMetrics) Describe(ch chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{m.build, m.batches, m.rows, m.inserted, m.rejects, m.last, m.filesFailed, m.works, m.finished, m.took, m.faults} {
		ch <- d
	}
}

// Collect sends the current metrics.
func (m *workMetrics) Collect(ch chan<- prometheus.Metric) {
	count := func(d *prometheus.Desc, n int64, labels ...string) {
		ch <- prometheus.MustNewConstMetric(d, prometheus.CounterValue, float64(n), labels...)
	}
	gauge := func(d *prometheus.Desc, v float64, labels ...string) {
		ch <- prometheus.MustNewConstMetric(d, prometheus.GaugeValue, v, labels...)
	}
	at := func(d *prometheus.Desc, t time.Time, labels ...string) {
		if !t.IsZero() {
			gauge(d, float64(t.UnixMilli())/1e3, labels...)
		}
	}
	t := m.tally()
	gauge(m.build, 1, version)
	for feed, f := range t.Feeds {
		count(m.batches, f.Batches, feed)
		count(m.rows, f.Rows, feed)
		count(m.inserted, f.Inserted, feed)
		count(m.rejects, f.Rejected, feed)
		at(m.last, f.Last, feed)
	}
	count(m.filesFailed, t.FilesFailed)
	for _, name := range keeper.Works() {
		w := t.Works[name]
		count(m.works, w.OK, name, "ok")
		count(m.works, w.Failed, name, "failed")
		at(m.finished, w.LastOK, name, "ok")
		at(m.finished, w.LastFailed, name, "failed")
		if w.OK+w.Failed > 0 {
			gauge(m.took, w.Took.Seconds(), name)
		}
	}
	count(m.faults, t.Reopened, "yes")
	count(m.faults, t.Lost, "no")
}
