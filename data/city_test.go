package data_test

import (
	"testing"
	"time"
	_ "time/tzdata"

	"pmx/data"
)

func day(t *testing.T, s string) data.Date {
	t.Helper()
	d, err := data.ParseDate(s)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// TestLocalDays: a day lasts from midnight to midnight on the city's clock.
func TestLocalDays(t *testing.T) {
	for _, tc := range []struct{ zone, date, start, end string }{
		{"America/New_York", "2026-07-02", "2026-07-02T04:00:00Z", "2026-07-03T04:00:00Z"},
		{"America/New_York", "2026-03-08", "2026-03-08T05:00:00Z", "2026-03-09T04:00:00Z"}, // 23 hours
		{"America/New_York", "2026-11-01", "2026-11-01T04:00:00Z", "2026-11-02T05:00:00Z"}, // 25 hours
		{"Pacific/Auckland", "2026-01-22", "2026-01-21T11:00:00Z", "2026-01-22T11:00:00Z"}, // +13
		{"Pacific/Auckland", "2026-07-01", "2026-06-30T12:00:00Z", "2026-07-01T12:00:00Z"}, // +12
		{"Asia/Kolkata", "2026-03-05", "2026-03-04T18:30:00Z", "2026-03-05T18:30:00Z"},
		{"Asia/Karachi", "2026-04-15", "2026-04-14T19:00:00Z", "2026-04-15T19:00:00Z"},
		{"America/Santiago", "2026-09-06", "2026-09-06T04:00:00Z", "2026-09-07T03:00:00Z"}, // midnight is skipped
		{"America/Santiago", "2026-04-04", "2026-04-04T03:00:00Z", "2026-04-05T04:00:00Z"}, // 23:00 occurs twice
		{"Pacific/Kiritimati", "2026-01-01", "2025-12-31T10:00:00Z", "2026-01-01T10:00:00Z"},
	} {
		c, err := data.City{Slug: "x", Zone: tc.zone}.Located()
		if err != nil {
			t.Fatal(err)
		}
		d := day(t, tc.date)
		start, end := c.Day(d)
		if start.UTC().Format(time.RFC3339) != tc.start || end.UTC().Format(time.RFC3339) != tc.end {
			t.Errorf("%s %s: %s … %s, want %s … %s", tc.zone, tc.date, start.UTC(), end.UTC(), tc.start, tc.end)
		}
		if c.DateOf(start) != d || c.DateOf(end.Add(-time.Second)) != d || c.DateOf(end) != d+1 || c.DateOf(start.Add(-time.Second)) != d-1 {
			t.Errorf("%s: the edges of %s are on other days", tc.zone, tc.date)
		}
	}
}

// TestStandardDays: New York's climate day is 05:00Z to 05:00Z in July too.
func TestStandardDays(t *testing.T) {
	for zone, want := range map[string]string{"America/New_York": "05:00", "Asia/Kolkata": "18:30", "Pacific/Auckland": "12:00"} {
		c, err := data.City{Zone: zone}.Located()
		if err != nil {
			t.Fatal(err)
		}
		start, end := c.StandardDay(day(t, "2026-07-02"))
		if start.Format("15:04") != want || end.Sub(start) != 24*time.Hour {
			t.Errorf("%s: %s … %s", zone, start, end)
		}
	}
}

func TestDates(t *testing.T) {
	d := day(t, "2028-02-29")
	if d.String() != "2028-02-29" || d.MonthDay() != 229 || data.DateOf(d.Time()) != d || (d+1).String() != "2028-03-01" {
		t.Errorf("%s", d)
	}
	if before := day(t, "1969-12-31"); before != -1 || before.String() != "1969-12-31" {
		t.Errorf("%d is %s", before, before)
	}
	for _, bad := range []string{"2026-02-30", "2026-2-3", "", "20260203"} {
		if _, err := data.ParseDate(bad); err == nil {
			t.Errorf("%q is a date", bad)
		}
	}
}
