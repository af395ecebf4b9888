package weather

import (
	"errors"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"pmx/data"
)

func TestRoundingIsHalfUp(t *testing.T) {
	for _, tc := range []struct {
		text      string
		unit      data.Unit
		up, floor int
	}{
		{"22.5", data.Celsius, 23, 22}, {"22.4", data.Celsius, 22, 22}, {"-2.5", data.Celsius, -2, -3}, {"-2.6", data.Celsius, -3, -3},
		{"-0.5", data.Celsius, 0, -1}, {"28.9", data.Celsius, 29, 28}, {"0", data.Celsius, 0, 0}, {"-3", data.Celsius, -3, -3},
		{"71.5", data.Fahrenheit, 72, 71}, {"71.49", data.Fahrenheit, 71, 71}, {"-0.5", data.Fahrenheit, 0, -1}, {"-10", data.Fahrenheit, -10, -10},
	} {
		v, err := data.ParseTemp(tc.text, tc.unit)
		if err != nil {
			t.Fatal(err)
		}
		if up, floor := HalfUp.Degrees(v, tc.unit), Floor.Degrees(v, tc.unit); up != tc.up || floor != tc.floor {
			t.Errorf("%s %s: %d and %d, want %d and %d", tc.text, tc.unit, up, floor, tc.up, tc.floor)
		}
	}
	// 22.8 °C, as a station reports it in tenths, is 73.04 °F and settles as 73.
	if v, _ := data.ParseTemp("22.8", data.Celsius); HalfUp.Degrees(v, data.Fahrenheit) != 73 {
		t.Errorf("22.8 °C settles as %d °F", HalfUp.Degrees(v, data.Fahrenheit))
	}
}

func TestLadderOrdersWhatComesInAnyOrder(t *testing.T) {
	list := []Bracket{c(11, 11), c(13, 13), cHigh(14), bare(c(12, 12)), cLow(10)}
	order, err := Ladder(list, data.Celsius)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, i := range order {
		got = append(got, list[i].Label())
	}
	if s := strings.Join(got, " "); s != "10°C or below 11°C 12°C 13°C 14°C or higher" {
		t.Errorf("s = %s", s)
	}
}

func TestLadderRefusesGapsAndOverlaps(t *testing.T) {
	for want, list := range map[string][]Bracket{
		"there are 2":            {cLow(1), cHigh(2)},
		"gap between 11°C":       {cLow(10), c(11, 11), c(13, 13), cHigh(14)},
		"11°C and 11°C overlap":  {cLow(10), c(11, 11), c(11, 11), cHigh(12)},
		"58-59°F and 59-60°F":    {fLow(57), f(58, 59), f(59, 60), fHigh(61)},
		"both ends: 11°C":        {c(11, 11), c(12, 12), cHigh(13)},
		"both ends: 10°C or":     {cLow(10), c(11, 11), c(12, 12)},
		"9°C or below and 10°C":  {cLow(9), cLow(10), cHigh(11)},
		"12°C or higher and 13°": {cLow(11), cHigh(12), cHigh(13)},
		"not of the scale":       {cLow(10), f(11, 12), cHigh(13)},
	} {
		_, err := Ladder(list, 0)
		var bad *LadderError
		if !errors.As(err, &bad) || !strings.Contains(err.Error(), want) {
			t.Errorf("%v: err = %v, want %q", list, err, want)
		}
	}
	if _, err := Ladder([]Bracket{bare(cLow(1)), bare(c(2, 2)), bare(cHigh(3))}, 0); err == nil {
		t.Error("a ladder without a scale was accepted")
	}
}

// TestEveryTemperatureSettlesOnce: the intervals of a ladder cover all temperatures without a gap
// or an overlap, and agree with rounding.
func TestEveryTemperatureSettlesOnce(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		unit := rapid.SampledFrom([]data.Unit{data.Celsius, data.Fahrenheit}).Draw(t, "unit")
		rounding := rapid.SampledFrom([]Rounding{HalfUp, Floor}).Draw(t, "rounding")
		at := rapid.IntRange(-30, 100).Draw(t, "first")
		list := []Bracket{{Hi: at, OpenLow: true, Unit: unit}}
		for range rapid.IntRange(1, 9).Draw(t, "inner") {
			width := rapid.IntRange(1, 3).Draw(t, "width")
			list = append(list, Bracket{Lo: at + 1, Hi: at + width, Unit: unit})
			at += width
		}
		list = append(list, Bracket{Lo: at + 1, OpenHigh: true, Unit: unit})
		if _, err := Ladder(list, 0); err != nil {
			t.Fatal(err)
		}
		v := data.Temp(rapid.Int32Range(-60_000, 60_000).Draw(t, "temp"))
		holds, contains := 0, 0
		for _, b := range list {
			in := b.Holds(rounding.Degrees(v, unit))
			if in {
				holds++
			}
			if b.Interval(rounding).Contains(v) {
				contains++
			}
			if in != b.Interval(rounding).Contains(v) {
				t.Fatalf("%d: %s by rounding and by interval differ", v, b.Label())
			}
		}
		if holds != 1 || contains != 1 {
			t.Fatalf("%d settles in %d brackets and lies in %d intervals", v, holds, contains)
		}
	})
}

func TestMiddles(t *testing.T) {
	if m, ok := f(98, 99).Middle(HalfUp); !ok || m.Text(data.Fahrenheit) != "98.5" {
		t.Errorf("m.Text(data.Fahrenheit) = %s", m.Text(data.Fahrenheit))
	}
	if m, ok := c(-3, -3).Middle(HalfUp); !ok || m.Text(data.Celsius) != "-3.0" {
		t.Errorf("m.Text(data.Celsius) = %s", m.Text(data.Celsius))
	}
	if _, ok := cHigh(3).Middle(HalfUp); ok {
		t.Error("an open-ended bracket has a middle")
	}
}
