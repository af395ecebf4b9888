package server

import (
	"cmp"
	"math/bits"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"pmx/engine/guard"
	"pmx/http/access"
	"pmx/http/api"
)

// durationBuckets is the number of latency buckets: bucket i counts requests that took less than
// 2^i × 16 µs, so the last bound is 8.4 s.
const durationBuckets = 20

const firstBucketMicros = 16

// metrics counts requests per route without locks: a request must not pay for label lookups.
type metrics struct {
	api      *api.API
	routes   []routeCounts
	requests *prometheus.Desc
	duration *prometheus.Desc
	epoch    *prometheus.Desc
	panics   *prometheus.Desc
	failing  *prometheus.Desc
	watch    *guard.Watch
	open     *prometheus.Desc
	dropped  *prometheus.Desc
	conns    *connSet
	sources  *sourceMetrics
	reads    *prometheus.Desc

	limits  *prometheus.Desc
	limited map[string]*atomic.Uint64 // by plan, "" for callers without a key

	certificate certificates // nil: plain HTTP
	expiry      *prometheus.Desc
	kept        *prometheus.Desc
}

// routeCounts are one route's counters.
type routeCounts struct {
	name     string
	method   string             // GET counts HEAD too
	statuses [600]atomic.Uint64 // by HTTP status
	buckets  [durationBuckets + 1]atomic.Uint64
	micros   atomic.Uint64
}

func newMetrics(a *api.API, watch *guard.Watch, open *connSet) *metrics {
	m := &metrics{
		api: a, watch: watch, conns: open, sources: newSourceMetrics(),
		panics:   prometheus.NewDesc("pmx_background_panics_total", "Panics in background work, which is then retried.", []string{"work"}, nil),
		failing:  prometheus.NewDesc("pmx_background_failing", "1 if the last attempt of background work panicked.", []string{"work"}, nil),
		requests: prometheus.NewDesc("pmx_http_requests_total", "Requests answered.", []string{"route", "method", "status"}, nil),
		duration: prometheus.NewDesc("pmx_http_request_duration_seconds", "Time from the parsed request to the complete response.", []string{"route", "method"}, nil),
		open:     prometheus.NewDesc("pmx_http_connections", "Open connections, by whether a key was sent on them.", []string{"keyed"}, nil),
		dropped:  prometheus.NewDesc("pmx_http_connections_dropped_total", "Connections closed because there were too many.", nil, nil),
		limits:   prometheus.NewDesc("pmx_http_limited_total", "Requests answered with 429 because of the rate limit, by plan; none for callers without a valid key.", []string{"plan"}, nil),
		reads:    prometheus.NewDesc("pmx_http_reads_total", "Database reads that requests needed, by whether a cached or shared result of the same epoch was used.", []string{"cached"}, nil),
		expiry:   prometheus.NewDesc("pmx_tls_certificate_expiry_timestamp_seconds", "When the certificate in use expires, in Unix time; the earliest of several. Absent while there is no certificate yet.", nil, nil),
		kept:     prometheus.NewDesc("pmx_tls_certificate_failing", "1 while the files of the certificate cannot be used and the previous one is kept, or while a certificate cannot be ordered or renewed.", nil, nil),
		epoch:    prometheus.NewDesc("pmx_http_published_epoch", "Epoch of the snapshot that requests are answered from.", nil, nil),
	}
	m.limited = map[string]*atomic.Uint64{"": {}}
	for _, tier := range access.Tiers() {
		m.limited[tier.String()] = &atomic.Uint64{}
	}
	routes := api.Routes()
	m.routes = make([]routeCounts, len(routes)+1)
	m.routes[0].name = "none"
	for i := range routes {
		m.routes[i+1].name, m.routes[i+1].method = routes[i].Path, routes[i].Method
	}
	return m
}

// observe counts one request of the route at index; 0 means no route.
func (m *metrics) observe(index, status int, took time.Duration) {
	r := &m.routes[index]
	if status >= 0 && status < len(r.statuses) {
		r.statuses[status].Add(1)
	}
	us := uint64(max(0, took.Microseconds()))
	r.buckets[min(bits.Len64(us/firstBucketMicros), durationBuckets)].Add(1)
	r.micros.Add(us)
}

// limit counts a request that was refused because of the rate limit of plan.
func (m *metrics) limit(plan string) {
	if n := m.limited[plan]; n != nil {
		n.Add(1)
	}
}

// Describe lists the metrics.
func (m *metrics) Describe(ch chan<- *prometheus.Desc) {
	ch <- m.requests
	ch <- m.duration
	ch <- m.epoch
	ch <- m.panics
	ch <- m.failing
	ch <- m.open
	ch <- m.dropped
	ch <- m.limits
	ch <- m.reads
	ch <- m.expiry
	ch <- m.kept
	m.sources.describe(ch)
}

// Collect sends the current counters. It runs in a goroutine of the registry, which does not
// recover from panics.
func (m *metrics) Collect(ch chan<- prometheus.Metric) {
	_ = m.watch.Do("metrics", func() error { m.collect(ch); return nil })
}

func (m *metrics) collect(ch chan<- prometheus.Metric) {
	for i := range m.routes {
		m.routes[i].collect(ch, m)
	}
	epoch, _ := m.api.Epoch()
	ch <- prometheus.MustNewConstMetric(m.epoch, prometheus.GaugeValue, float64(epoch))
	keyed, unkeyed, dropped := m.conns.count()
	ch <- prometheus.MustNewConstMetric(m.open, prometheus.GaugeValue, float64(keyed), "yes")
	ch <- prometheus.MustNewConstMetric(m.open, prometheus.GaugeValue, float64(unkeyed), "no")
	ch <- prometheus.MustNewConstMetric(m.dropped, prometheus.CounterValue, float64(dropped))
	for plan, n := range m.limited {
		ch <- prometheus.MustNewConstMetric(m.limits, prometheus.CounterValue, float64(n.Load()), cmp.Or(plan, "none"))
	}
	asked, done := m.api.CachedReads()
	ch <- prometheus.MustNewConstMetric(m.reads, prometheus.CounterValue, float64(asked-done), "yes")
	ch <- prometheus.MustNewConstMetric(m.reads, prometheus.CounterValue, float64(done), "no")
	m.collectCertificate(ch)
	for _, work := range m.watch.Statuses() {
		ch <- prometheus.MustNewConstMetric(m.panics, prometheus.CounterValue, float64(work.Panics), work.Name)
		ch <- prometheus.MustNewConstMetric(m.failing, prometheus.GaugeValue, oneIf(work.Failing), work.Name)
	}
	m.sources.collect(ch, m.api.Sources())
}

// collectCertificate sends nothing if the server speaks plain HTTP.
func (m *metrics) collectCertificate(ch chan<- prometheus.Metric) {
	if c := m.certificate; c != nil {
		if at, known := c.Expires(); known {
			ch <- prometheus.MustNewConstMetric(m.expiry, prometheus.GaugeValue, float64(at.Unix()))
		}
		ch <- prometheus.MustNewConstMetric(m.kept, prometheus.GaugeValue, oneIf(c.Fails()))
	}
}

func (r *routeCounts) collect(ch chan<- prometheus.Metric, m *metrics) {
	for status := range r.statuses {
		if n := r.statuses[status].Load(); n > 0 {
			ch <- prometheus.MustNewConstMetric(m.requests, prometheus.CounterValue, float64(n), r.name, r.method, strconv.Itoa(status))
		}
	}
	cumulative := map[float64]uint64{}
	var count uint64
	for i := range r.buckets {
		count += r.buckets[i].Load()
		if i < durationBuckets {
			cumulative[float64(uint64(firstBucketMicros)<<i)/1e6] = count
		}
	}
	ch <- prometheus.MustNewConstHistogram(m.duration, count, float64(r.micros.Load())/1e6, cumulative, r.name, r.method)
}
