package weather

import (
	"testing"

	"pmx/data"
)

// TestAnAnomalyIsADifference: 77 °F with a normal of 70.5 is 6.5 °F or 3.611 °C above it; with a
// deviation of 7.6 °F, 0.855263 deviations.
func TestAnAnomalyIsADifference(t *testing.T) {
	value, _ := data.ParseTemp("77", data.Fahrenheit)
	usual, _ := data.ParseTemp("70.5", data.Fahrenheit)
	deviation, _ := data.ParseDifference("7.6", data.Fahrenheit)
	a := AnomalyOf(value, &Normal{Value: usual, Deviation: &deviation})
	if a.Difference.Difference(data.Fahrenheit).String() != "6.5" || a.Difference.Difference(data.Celsius).String() != "3.611111" ||
		a.Z.String() != "0.855263" || a.Class != nil {
		t.Errorf("a = %+v", a)
	}
	zero := data.Temp(0)
	if a := AnomalyOf(value, &Normal{Value: usual, Deviation: &zero}); a.Z != nil {
		t.Error("a z-score by a deviation of 0")
	}
	if AnomalyOf(value, &Normal{Value: usual}).Z != nil || AnomalyOf(value, nil) != nil {
		t.Error("an anomaly of what is not known")
	}
}

func TestClassesByPercentile(t *testing.T) {
	lo, hi := celsius(10), celsius(20)
	for value, want := range map[data.Temp]Class{lo - 1: ClassBelow, lo: ClassNormal, hi: ClassNormal, hi + 1: ClassAbove} {
		if a := AnomalyOf(value, &Normal{Value: celsius(15), P10: &lo, P90: &hi}); *a.Class != want {
			t.Errorf("%d: a.Class = %s", value, *a.Class)
		}
	}
	if a := AnomalyOf(lo, &Normal{Value: celsius(15), P10: &lo}); a.Class != nil {
		t.Errorf("one percentile makes a class: *a.Class = %s", *a.Class)
	}
}
