package web

import (
	"fmt"
	"html/template"
	"math"
	"strings"
	"time"

	"pmx/engine/control/record"
)

const (
	dayBuckets  = 96  // of a quarter of an hour each
	weekBuckets = 168 // of an hour each
	plotHeight  = 80
	plotWidth   = 480
)

// bucket is the worst of the samples in an interval.
type bucket struct {
	from, to time.Time
	grade    byte // 0: no sample
	lag      int64
}

// series returns the grade and lag of a subsystem or source in a sample; false if the sample has
// none.
type series func(s *record.Status) (grade byte, lag int64, ok bool)

// subsystemSeries returns the series of a subsystem, by its index in samples.
func subsystemSeries(i int) series {
	return func(s *record.Status) (byte, int64, bool) { return s.Grades[i], s.Lags[i], true }
}

// sourceSeries returns the series of a followed source.
func sourceSeries(name string) series {
	return func(s *record.Status) (byte, int64, bool) {
		was, ok := s.Sources[name]
		return was.Grade, was.Lag, ok
	}
}

// buckets divides the time span before at into n intervals, oldest first.
func buckets(history []record.Status, part series, at time.Time, span time.Duration, n int) []bucket {
	width := span / time.Duration(n)
	start := at.Add(-span)
	all := make([]bucket, n)
	for i := range all {
		all[i] = bucket{from: start.Add(time.Duration(i) * width), to: start.Add(time.Duration(i+1) * width), lag: -1}
	}
	for k := range history {
		s := &history[k]
		i := int(s.At.Sub(start) / width)
		grade, lag, ok := part(s)
		if s.At.Before(start) || i >= n || !ok {
			continue
		}
		all[i].grade = max(all[i].grade, grade) // A to F: the order of the letters is that of the grades
		all[i].lag = max(all[i].lag, lag)
	}
	return all
}

// strip draws the grades of a span as a row of n bars.
func strip(history []record.Status, part series, at time.Time, span time.Duration, n int) template.HTML {
	var b strings.Builder
	fmt.Fprintf(&b, `<svg class="strip" viewBox="0 0 %d 10" preserveAspectRatio="none" role="img" aria-label="%s">`, n,
		template.HTMLEscapeString(summary(buckets(history, part, at, span, n))))
	for i, k := range buckets(history, part, at, span, n) {
		grade, what := "none", "no data"
		if k.grade != 0 {
			grade = strings.ToLower(string(k.grade))
			what = "grade " + string(k.grade)
		}
		if k.lag >= 0 {
			what += ", lag up to " + durationText(time.Duration(k.lag)*time.Second)
		}
		fmt.Fprintf(&b, `<rect class="grade-%s" x="%d" y="0" width=".82" height="10"><title>%s to %s UTC: %s</title></rect>`,
			grade, i, k.from.Format("2 Jan 15:04"), k.to.Format("15:04"), what)
	}
	b.WriteString("</svg>")
	return template.HTML(b.String())
}

// summary says in words what share of the time each grade had.
func summary(all []bucket) string {
	counts := map[byte]int{}
	for _, k := range all {
		counts[k.grade]++
	}
	var parts []string
	for _, grade := range []byte("ABCDF") {
		if n := counts[grade]; n > 0 {
			parts = append(parts, fmt.Sprintf("%c for %d %% of the time", grade, n*100/len(all)))
		}
	}
	if n := counts[0]; n > 0 {
		parts = append(parts, fmt.Sprintf("no data for %d %%", n*100/len(all)))
	}
	return strings.Join(parts, ", ")
}

// ticks returns the lags at which the plot has lines.
func ticks() []time.Duration {
	return []time.Duration{time.Second, time.Minute, time.Hour, 24 * time.Hour, 30 * 24 * time.Hour}
}

// height returns the position of a lag in the plot, on a logarithmic scale from a second to a year.
func height(lag time.Duration) float64 {
	top := math.Log(float64(365 * 24 * time.Hour / time.Second))
	share := math.Log(max(1, lag.Seconds())) / top
	return plotHeight * (1 - min(1, share))
}

// plot draws the lag of a day as a line; "" without samples.
func plot(history []record.Status, part series, at time.Time) template.HTML {
	all := buckets(history, part, at, 24*time.Hour, plotWidth)
	var line strings.Builder
	pen := false
	for i, k := range all {
		if k.lag < 0 {
			pen = false // a gap
			continue
		}
		y := height(time.Duration(k.lag) * time.Second)
		if !pen {
			fmt.Fprintf(&line, "M%d %.1f", i, y)
		}
		fmt.Fprintf(&line, "L%d %.1f", i+1, y)
		pen = true
	}
	if line.Len() == 0 {
		return ""
	}
	var b strings.Builder
	fmt.Fprintf(&b, `<svg class="plot" viewBox="0 0 %d %d" preserveAspectRatio="none" aria-hidden="true">`, plotWidth, plotHeight)
	for _, tick := range ticks() {
		fmt.Fprintf(&b, `<path class="tick" d="M0 %.1fH%d"/>`, height(tick), plotWidth)
	}
	fmt.Fprintf(&b, `<path class="lag" d="%s"/></svg>`, line.String())
	return template.HTML(b.String())
}
