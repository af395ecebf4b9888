package weather

import (
	"testing"
	"time"

	"pmx/data"
)

// series fills the days of 1991 to 2020 with f.
func series(f func(d data.Date) (data.Temp, bool)) map[data.Date]data.Temp {
	out := map[data.Date]data.Temp{}
	for d := data.DateFrom(FirstYear, time.January, 1); d <= data.DateFrom(LastYear, time.December, 31); d++ {
		if v, ok := f(d); ok {
			out[d] = v
		}
	}
	return out
}

// TestNormalsByHand: in every year the n-th of July has n °C, and all other days have 20 °C. Within
// 15 days of 16 July are 1 … 31 July, so the mean is 16, and the sample deviation of each year's 31
// values over 30 years is: Σ(n−16)² = 2·(1²+…+15²) = 2,480 a year, 74,400 in sum, divided by 929 →
// √80.086 = 8.949 °C. A tenth of 930 values is 93: the 93rd is 4 °C (30 each of 1, 2, 3, and the
// third 4); nine tenths are 837: the 27th of 28 °C.
func TestNormalsByHand(t *testing.T) {
	got := Climate(series(func(d data.Date) (data.Temp, bool) {
		_, month, day := d.Time().Date()
		if month == time.July {
			return data.Degrees(day, data.Celsius), true
		}
		return data.Degrees(20, data.Celsius), true
	}))
	if len(got) != 366 {
		t.Fatalf("got %d days", len(got))
	}
	u := got[716]
	if u.Value.Text(data.Celsius) != "16.0" || u.Deviation.Text(data.Celsius) != "8.95" || u.P10.Text(data.Celsius) != "4.0" ||
		u.P90.Text(data.Celsius) != "28.0" || u.Years != 30 {
		t.Errorf("16 July: u = %+v", u)
	}
	if u := got[101]; u.Value.Text(data.Celsius) != "20.0" || u.Deviation != 0 {
		t.Errorf("1 January: u = %+v", u)
	}
}

// TestTheLeapDayIsHalfWay between its neighbours, whose means differ by 1 °C: February has 10 °C
// and March 11 °C, so that 15 of the 31 days about 28 February are in March (14 in leap years, in
// which 29 February is one more of February).
func TestTheLeapDayIsHalfWay(t *testing.T) {
	got := Climate(series(func(d data.Date) (data.Temp, bool) {
		if d.MonthDay() >= 301 {
			return data.Degrees(11, data.Celsius), true
		}
		return data.Degrees(10, data.Celsius), true
	}))
	a, leap, b := got[228], got[leapDay], got[301]
	if leap.Value != (a.Value+b.Value)/2 || a.Value >= b.Value || leap.Years != 30 {
		t.Errorf("a = %+v, leap = %+v, b = %+v", a, leap, b)
	}
}

// TestTooFewYearsMakeNoNormal: 24 years are enough, 23 are not, and a series of other years has no
// normal.
func TestTooFewYearsMakeNoNormal(t *testing.T) {
	upTo := func(year int) map[int]Usual {
		return Climate(series(func(d data.Date) (data.Temp, bool) {
			return 900, d.Time().Year() <= year && d.MonthDay() > 115 && d.MonthDay() < 1215
		}))
	}
	if u := upTo(2014)[716]; u.Years != 24 || u.Value != 900 {
		t.Errorf("24 years give %+v", u)
	}
	if got := upTo(2013); len(got) != 0 {
		t.Errorf("23 years give %d days", len(got))
	}
	if got := Climate(map[data.Date]data.Temp{data.DateFrom(2026, 6, 1): 900}); len(got) != 0 {
		t.Errorf("2026: got %d days", len(got))
	}
}

// TestMeansAreRoundedAwayFromZero: −1 and −2 thirds of the smallest unit.
func TestMeansAreRoundedAwayFromZero(t *testing.T) {
	for want, values := range map[data.Temp][]data.Temp{-2: {-1, -2}, 2: {1, 2}, -1: {-1, -1, 0}, 0: {-1, 0, 0}} {
		if got := usual(values, 24).Value; got != want {
			t.Errorf("%v: got %d, want %d", values, got, want)
		}
	}
}
