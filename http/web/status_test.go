package web

import (
	"strings"
	"sync"
	"testing"
	"time"

	"pmx/engine/control/record"
	"pmx/http/wire"
)

var noon = time.Date(2026, 3, 14, 12, 0, 0, 0, time.UTC)

// At noon the last quarter of an hour has 15 samples. Its bar shows the worst of them.
func TestABarIsTheWorstOfItsTime(t *testing.T) {
	var history []record.Status
	for minute := 30; minute > 0; minute-- {
		s := record.Status{At: noon.Add(-time.Duration(minute) * time.Minute), Grades: [3]byte{'A', 'B', 'F'}, Lags: [3]int64{int64(minute), 400, -1}}
		if minute == 7 {
			s.Grades[0], s.Lags[0] = 'C', 900
		}
		history = append(history, s)
	}
	all := buckets(history, subsystemSeries(0), noon, 24*time.Hour, dayBuckets)
	last, before := all[dayBuckets-1], all[dayBuckets-2]
	if last.grade != 'C' || last.lag != 900 || !last.from.Equal(noon.Add(-15*time.Minute)) || !last.to.Equal(noon) {
		t.Errorf("the last bar: %+v", last)
	}
	if before.grade != 'A' || before.lag != 30 || all[0].grade != 0 || all[0].lag != -1 {
		t.Errorf("bars before: %+v, %+v", before, all[0])
	}
	drawn := string(strip(history, subsystemSeries(0), noon, 24*time.Hour, dayBuckets))
	for _, want := range []string{
		`aria-label="A for 1 % of the time, C for 1 % of the time, no data for 97 %"`,
		"<title>14 Mar 11:45 to 12:00 UTC: grade C, lag up to 15 min</title>", "no data</title>",
	} {
		if !strings.Contains(drawn, want) {
			t.Errorf("%s is missing", want)
		}
	}
	if n := strings.Count(drawn, "<rect"); n != dayBuckets {
		t.Errorf("got %d bars", n)
	}
	if plot(history, subsystemSeries(2), noon) != "" {
		t.Error("a plot of no lags")
	}
	if lags := string(plot(history, subsystemSeries(1), noon)); strings.Count(lags, "M4") != 1 {
		t.Errorf("the plot of lags is not one line: %s", lags)
	}
}

func TestDurationsInWords(t *testing.T) {
	for d, want := range map[time.Duration]string{
		0: "0 s", 59 * time.Second: "59 s", time.Minute: "1 min", 61 * time.Second: "1 min 1 s", 90 * time.Minute: "1 h 30 min",
		24 * time.Hour: "1 d", 75 * time.Hour: "3 d 3 h", time.Hour + 3*time.Second: "1 h",
	} {
		if got := durationText(d); got != want {
			t.Errorf("%d: got %s, want %s", d, got, want)
		}
	}
}

func TestStatusPageShowsTheStatus(t *testing.T) {
	lag, why := int64(3700), "Import some."
	now := wire.PublicStatus{
		Grade: "F", CheckedAt: noon, ServingTables: wire.Subsystem{Grade: "C", LagSeconds: &lag, AsOf: &noon, UpdatedAt: &noon, Pending: true, Rule: "as it is"},
		Trades: wire.Subsystem{Grade: "F", Detail: &why}, Markets: wire.Subsystem{Grade: "A"},
	}
	p, err := testSite(t).Status(now, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"Something is out of date", "1 h 1 min", "imported data is waiting", "14 March 2026, 12:00:00 UTC", "as it is.", "Nothing yet", "<p>Import some.</p>"} {
		if !strings.Contains(string(p.body), want) {
			t.Errorf("%q is missing", want)
		}
	}
	const historical = "historical on purpose: its data ends on 14 March 2026"
	if strings.Contains(string(p.body), historical) {
		t.Error("a venue that still trades is called historical")
	}
	now.Historical, now.Trades.AsOf = true, &noon
	if p, err = testSite(t).Status(now, nil); err != nil || !strings.Contains(string(p.body), historical) {
		t.Errorf("the page does not say that the venue is historical: %v", err)
	}
}

// A source that was followed only recently has bars only from then on.
func TestStatusPageShowsSources(t *testing.T) {
	lag, remaining, progress, why := int64(42), int64(5400), 0.256, `Source "chain": no node answers.`
	now := wire.PublicStatus{Grade: "C", CheckedAt: noon, ServingTables: wire.Subsystem{Grade: "A"}, Trades: wire.Subsystem{Grade: "A"}, Markets: wire.Subsystem{Grade: "A"},
		Sources: []wire.FollowedSource{{Name: "chain", Grade: "C", State: "fetching", LagSeconds: &lag, UpdatedAt: &noon, CatchingUp: true, Progress: &progress,
			RemainingSeconds: &remaining, Missing: 12345, Rows: 1234567, Requests: 3400, Retries: 17, ThrottledSeconds: 61.5, Unknown: 3, Detail: &why, Rule: "as it is",
			Hosts: []wire.SourceHost{{Name: "rpc 1", State: "answers", AnsweredAt: &noon}, {Name: "rpc 2", State: "fails"}}}}}
	history := []record.Status{
		{At: noon.Add(-2 * time.Hour), Grades: [3]byte{'A', 'A', 'A'}},
		{At: noon.Add(-time.Minute), Grades: [3]byte{'A', 'A', 'A'}, Sources: map[string]record.SourceStatus{"chain": {Grade: 'D', Lag: 7}}},
	}
	p, err := testSite(t).Status(now, history)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"chain", "fetching", "42 s", "25 %", "1 h 30 min", "12,345", "1,234,567", "3,400", "17", "1 min 1 s", "no node answers",
		"rpc 1 answers; rpc 2 <strong>does not answer</strong>, last response: never.", `aria-label="D for 1 % of the time, no data for 98 %"`} {
		if !strings.Contains(string(p.body), want) {
			t.Errorf("%q is missing in\n%s", want, p.body)
		}
	}
	now.Sources = nil
	if p, err = testSite(t).Status(now, history); err != nil || strings.Contains(string(p.body), "Sources") {
		t.Errorf("sources where none is followed: %v", err)
	}
}

func TestMeaningsAreMarkedAndEscaped(t *testing.T) {
	if got := markCode("`a<b` & c"); got != "<code>a&lt;b</code> &amp; c" {
		t.Errorf("got %s", got)
	}
	if got := breakablePath("/a/{b}"); got != "/<wbr>a/<wbr>{b}" {
		t.Errorf("got %s", got)
	}
	got := rewriteLinks(`<a href="numbers.md#x">n</a> <a href="design.md">d</a> <a href="/docs">o</a>`, map[string]string{"numbers.md": "/docs/text/numbers"})
	if got != `<a href="/docs/text/numbers#x">n</a> d <a href="/docs">o</a>` {
		t.Errorf("got %s", got)
	}
}

func TestExamplesKeepPlainListsOnTheirLine(t *testing.T) {
	got, err := pretty([]byte(`{"a":["x, [y]","z"],"b":[1.50,null],"c":[],"d":[{"e":[2]}]}`))
	want := "{\n  \"a\": [\"x, [y]\", \"z\"],\n  \"b\": [1.50, null],\n  \"c\": [],\n  \"d\": [\n    {\n      \"e\": [2]\n    }\n  ]\n}"
	if err != nil || got != want {
		t.Errorf("%v\n%s", err, got)
	}
}

// testedSite is used by all tests: sites never change.
var testedSite = sync.OnceValues(func() (*Site, error) { return New(false) })

// testSite is the site of this program.
func testSite(t *testing.T) *Site {
	t.Helper()
	s, err := testedSite()
	if err != nil {
		t.Fatal(err)
	}
	return s
}
