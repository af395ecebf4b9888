package server

import (
	"strconv"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"pmx/rollups/serving"
)

// sourceMetrics are the metrics of the sources that the server follows.
type sourceMetrics struct {
	now       func() time.Time
	lag       *prometheus.Desc
	state     *prometheus.Desc
	quiet     *prometheus.Desc
	progress  *prometheus.Desc
	missing   *prometheus.Desc
	rows      *prometheus.Desc
	requests  *prometheus.Desc
	retries   *prometheus.Desc
	throttled *prometheus.Desc
	unknown   *prometheus.Desc
	differs   *prometheus.Desc
	lacks     *prometheus.Desc
	host      *prometheus.Desc
	asked     *prometheus.Desc
}

func newSourceMetrics() *sourceMetrics {
	desc := func(name, help string, labels ...string) *prometheus.Desc {
		return prometheus.NewDesc("pmx_sync_"+name, help, append([]string{"source"}, labels...), nil)
	}
	return &sourceMetrics{
		now:       time.Now,
		lag:       desc("lag_seconds", "How far the source's complete data is behind the current time; absent while there is none."),
		state:     desc("source_state", "1 for the state that the source is in, 0 for the others.", "state"),
		quiet:     desc("quiet", "1 while less than a fifth of the usual amount for this hour comes in."),
		progress:  desc("catch_up_progress", "Share of the history that was fetched, 0 to 1; 1 when there is nothing to catch up on."),
		missing:   desc("gap_blocks", "Blocks that are known to be final but not stored yet."),
		rows:      desc("rows_total", "New rows since the start."),
		requests:  desc("requests_total", "Requests since the start."),
		retries:   desc("retries_total", "Requests repeated since the start."),
		throttled: desc("throttled_seconds_total", "Time spent waiting because the source limited the rate of requests."),
		unknown:   desc("unknown_total", "Events, JSON members and statuses that were not recognised."),
		differs:   desc("audit_difference", "Current difference from the source's own counts, by what is compared.", "audit"),
		lacks:     desc("incomplete", "1 for a source that is incomplete by its nature, such as a list of trades with known gaps."),
		host:      desc("host_state", "1 for the state that a host of the source is in, 0 for the others.", "host", "state"),
		asked:     desc("host_requests_total", "Requests to a host since the start, by HTTP status; 0 for those without a complete response.", "host", "code"),
	}
}

func (m *sourceMetrics) describe(ch chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{m.lag, m.state, m.quiet, m.progress, m.missing, m.rows, m.requests, m.retries, m.throttled, m.unknown, m.differs, m.lacks, m.host, m.asked} {
		ch <- d
	}
}

func (m *sourceMetrics) collect(ch chan<- prometheus.Metric, sources []serving.Source) {
	for i := range sources {
		s := &sources[i]
		gauge := func(d *prometheus.Desc, v float64, labels ...string) {
			ch <- prometheus.MustNewConstMetric(d, prometheus.GaugeValue, v, append([]string{s.Name}, labels...)...)
		}
		count := func(d *prometheus.Desc, v float64, labels ...string) {
			ch <- prometheus.MustNewConstMetric(d, prometheus.CounterValue, v, append([]string{s.Name}, labels...)...)
		}
		if !s.AsOf.IsZero() {
			gauge(m.lag, max(0, m.now().Sub(s.AsOf).Seconds()))
		}
		for _, state := range serving.SourceStates() {
			gauge(m.state, oneIf(state == s.State), string(state))
		}
		gauge(m.quiet, oneIf(s.Quiet))
		progress := 1.0
		if s.CatchingUp {
			progress = s.Progress
		}
		gauge(m.progress, progress)
		gauge(m.missing, float64(s.Missing))
		count(m.rows, float64(s.Rows))
		count(m.requests, float64(s.Requests))
		count(m.retries, float64(s.Retries))
		count(m.throttled, s.Throttled.Seconds())
		count(m.unknown, float64(s.Unknown))
		gauge(m.lacks, oneIf(s.Incomplete))
		for audit, n := range s.Differences {
			gauge(m.differs, float64(n), audit)
		}
		for _, h := range s.Hosts {
			for _, state := range serving.HostStates() {
				gauge(m.host, oneIf(state == h.State), h.Name, string(state))
			}
			for code, n := range h.Requests {
				count(m.asked, float64(n), h.Name, strconv.Itoa(code))
			}
		}
	}
}

func oneIf(ok bool) float64 {
	if ok {
		return 1
	}
	return 0
}
