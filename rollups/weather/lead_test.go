package weather

import (
	"testing"
	"time"

	"pgregory.net/rapid"

	"pmx/data"
	"pmx/data/reference"
)

// instant parses a time in RFC 3339 to unix µs.
func instant(t *testing.T, s string) int64 {
	t.Helper()
	at, err := time.Parse(time.RFC3339, s)
	if err != nil {
		t.Fatal(err)
	}
	return at.UnixMicro()
}

// TestLeadsAreOfTheCitysOwnCalendar: New York is 4 hours behind UTC in summer, 5 in
// winter; Lucknow 5½ ahead; Wellington 12, on the other side of the date line.
func TestLeadsAreOfTheCitysOwnCalendar(t *testing.T) {
	for _, tc := range []struct {
		slug, day, issued string
		days              int
		start, end        string // durations
		scored            bool
	}{
		{"nyc", "2026-07-02", "2026-07-01T03:59:00Z", 2, "24h1m", "48h1m", true},
		{"nyc", "2026-07-02", "2026-07-01T04:00:00Z", 1, "24h", "48h", true},
		{"nyc", "2026-07-02", "2026-07-02T15:59:59Z", 0, "-11h59m59s", "12h0m1s", true},
		{"nyc", "2026-07-02", "2026-07-02T16:00:00Z", 0, "-12h", "12h", false}, // noon
		{"nyc", "2026-07-02", "2026-07-03T04:00:00Z", -1, "-24h", "0s", false},
		{"nyc", "2026-11-01", "2026-11-01T04:00:00Z", 0, "0s", "25h", true},
		{"nyc", "2026-11-01", "2026-11-01T16:59:59Z", 0, "-12h59m59s", "12h0m1s", true}, // noon is 13 hours after midnight
		{"nyc", "2026-03-08", "2026-03-08T05:00:00Z", 0, "0s", "23h", true},
		{"nyc", "2026-03-08", "2026-03-08T16:00:00Z", 0, "-11h", "12h", false}, // noon is 11 hours after it
		{"lucknow", "2026-07-02", "2026-07-01T18:29:00Z", 1, "1m", "24h1m", true},
		{"lucknow", "2026-07-02", "2026-07-01T18:30:00Z", 0, "0s", "24h", true},
		{"wellington", "2026-07-02", "2026-06-30T12:30:00Z", 1, "23h30m", "47h30m", true},
		{"wellington", "2026-07-02", "2026-06-30T11:30:00Z", 2, "24h30m", "48h30m", true},
	} {
		issued := instant(t, tc.issued)
		got := LeadOf(city(t, tc.slug), on(t, tc.day), issued)
		start, _ := time.ParseDuration(tc.start)
		end, _ := time.ParseDuration(tc.end)
		if got != (Lead{tc.days, start, end}) {
			t.Errorf("%s %s from %s: got %+v", tc.slug, tc.day, tc.issued, got)
		}
		if lead, ok := ScoredLead(city(t, tc.slug), on(t, tc.day), issued); ok != tc.scored || lead != tc.days {
			t.Errorf("%s %s from %s: scored at %d, %v", tc.slug, tc.day, tc.issued, lead, ok)
		}
	}
	if h := Hours(-90 * time.Minute); h.String() != "-1.5" {
		t.Errorf("%s hours", h)
	}
	if h := Hours(time.Second); h.String() != "0.000278" {
		t.Errorf("%s hours", h)
	}
}

// TestDaysToStartAndLeadDaysAgree: a forecast from before the day begins has a lead of 1 or more,
// and otherwise one of 0, in every zone on every day.
func TestDaysToStartAndLeadDaysAgree(t *testing.T) {
	cities := reference.Gazetteer().Cities()
	rapid.Check(t, func(t *rapid.T) {
		c := rapid.SampledFrom(cities).Draw(t, "city")
		at := rapid.Int64Range(1_735_689_600, 1_830_297_600).Draw(t, "at") * 1_000_000
		day := c.DateOf(time.UnixMicro(at)) + data.Date(rapid.IntRange(-1, 16).Draw(t, "ahead"))
		l := LeadOf(c, day, at)
		if (l.Days > 0) != (l.ToStart > 0) || (l.Days < 0) != (l.ToEnd <= 0) {
			t.Fatalf("%s %s: %+v", c.Slug, day, l)
		}
	})
}

// TestOneForecastIsScoredADayAndLead: of three on the day before, the last; on the day itself, the
// last one of the morning.
func TestOneForecastIsScoredADayAndLead(t *testing.T) {
	var all []data.Forecast
	for i, at := range []string{"2026-07-01T04:00:00Z", "2026-07-02T03:59:59Z", "2026-07-01T20:00:00Z", // 1 July in New York
		"2026-07-02T13:00:00Z", "2026-07-02T20:00:00Z", "2026-07-02T09:00:00Z"} {
		all = append(all, data.Forecast{City: "nyc", Source: "nws", Metric: data.TMax, Target: on(t, "2026-07-02"),
			IssuedAt: instant(t, at), Value: data.Temp(i)})
	}
	all = append(all, data.Forecast{City: "atlantis", Source: "nws", Target: on(t, "2026-07-02"), IssuedAt: 1})
	got := Scored(reference.Gazetteer(), all)
	key := ScoreKey{City: "nyc", Source: "nws", Day: on(t, "2026-07-02")}
	ahead := key
	ahead.Lead = 1
	if len(got) != 2 || got[ahead].Value != 1 || got[key].Value != 3 {
		t.Errorf("got %+v", got)
	}
}
