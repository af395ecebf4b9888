package data_test

import (
	"math"
	"testing"

	"pgregory.net/rapid"

	"pmx/data"
)

// TestTempKeepsWhatWasRead: 21.7 °C is 21.7 × 900 = 19,530; 71 °F is (71 − 32) × 500 = 19,500;
// 22.2222 °C, printed for 72 °F, is (72 − 32) × 500 = 20,000.
func TestTempKeepsWhatWasRead(t *testing.T) {
	for _, tc := range []struct {
		in   string
		unit data.Unit
		want data.Temp
		c, f string
	}{
		{"21.7", data.Celsius, 19_530, "21.7", "71.06"},
		{"71", data.Fahrenheit, 19_500, "21.67", "71.0"},
		{"22.22222222222222", data.Celsius, 20_000, "22.22", "72.0"},
		{"-0.5", data.Celsius, -450, "-0.5", "31.1"},
		{"-40", data.Fahrenheit, -36_000, "-40.0", "-40.0"},
		{"0", data.Fahrenheit, -16_000, "-17.78", "0.0"},
		{"72.345", data.Fahrenheit, 20_175, "22.42", "72.35"}, // 20,172.5 lies between 72.34 and 72.35: away from zero
		{" 33 ", data.Celsius, 29_700, "33.0", "91.4"},
		{"1e1", data.Celsius, 9_000, "10.0", "50.0"},
	} {
		got, err := data.ParseTemp(tc.in, tc.unit)
		if err != nil || got != tc.want {
			t.Errorf("%q %s: %d, %v, want %d", tc.in, tc.unit, got, err, tc.want)
			continue
		}
		if c, f := got.Text(data.Celsius), got.Text(data.Fahrenheit); c != tc.c || f != tc.f {
			t.Errorf("%q %s prints %s °C and %s °F, want %s and %s", tc.in, tc.unit, c, f, tc.c, tc.f)
		}
	}
	for _, bad := range []string{"", "M", "nan", "Inf", "-9999", "1e300", "70.1", "-100.01", "12,5", "0x10"} {
		if v, err := data.ParseTemp(bad, data.Celsius); err == nil {
			t.Errorf("%q was read as %d", bad, v)
		}
	}
}

// TestHundredthsOfBothScalesAreExact: every hundredth of a degree of either scale is parsed, stored
// and printed without loss.
func TestHundredthsOfBothScalesAreExact(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		u := rapid.SampledFrom([]data.Unit{data.Celsius, data.Fahrenheit}).Draw(t, "unit")
		h := data.Micro(rapid.IntRange(-9_000, 7_000).Draw(t, "hundredths"))
		text := (h * 10_000).String()
		v, err := data.ParseTemp(text, u)
		if err != nil {
			t.Fatal(err)
		}
		if v.Hundredths(u) != int64(h) || v.In(u) != h*10_000 {
			t.Fatalf("%s %s is kept as %d", text, u, v)
		}
		scale, ok := v.Scale()
		again, err := data.ParseTemp(v.Text(scale), scale)
		if !ok || err != nil || again != v {
			t.Fatalf("%s %s prints as %s %s and reads as %d, %v", text, u, v.Text(scale), scale, again, err)
		}
	})
}

// TestDifferencesHaveNoZeroPoint: 10 °C is 50 °F, but 10 °C warmer is 18 °F warmer.
func TestDifferencesHaveNoZeroPoint(t *testing.T) {
	d := data.Degrees(30, data.Celsius) - data.Degrees(20, data.Celsius)
	if d.Difference(data.Fahrenheit) != 18*data.One || d.Difference(data.Celsius) != 10*data.One || d.In(data.Fahrenheit) != 50*data.One {
		t.Errorf("%d", d)
	}
}

func TestUnitsAreReadAsSourcesWriteThem(t *testing.T) {
	for text, want := range map[string]data.Unit{
		"C": 'C', "°C": 'C', "ºC": 'C', "celsius": 'C', "wmoUnit:degC": 'C', "unit:degC": 'C', "F": 'F', "°F": 'F',
		"Fahrenheit": 'F', "wmoUnit:degF": 'F', "℃": 'C', "K": 0, "": 0, "mm": 0,
	} {
		if got, ok := data.ParseUnit(text); got != want || ok != (want != 0) {
			t.Errorf("%q is %q, %v", text, got, ok)
		}
	}
}

// FuzzParseTemp: a parsed temperature is within bounds and has two decimals on one scale.
func FuzzParseTemp(f *testing.F) {
	f.Add("21.7", true)
	f.Add("22.222222", false)
	f.Add("-9999", true)
	f.Fuzz(func(t *testing.T, s string, celsius bool) {
		u := data.Fahrenheit
		if celsius {
			u = data.Celsius
		}
		v, err := data.ParseTemp(s, u)
		if err != nil {
			return
		}
		if _, ok := v.Scale(); !ok || math.Abs(float64(v)) > 100*900 {
			t.Errorf("%q gives %d", s, v)
		}
	})
}
