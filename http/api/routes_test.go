package api_test

import (
	"testing"

	"pmx/http/api"
)

// max_rows is the maximum of limit: that value is accepted, and a larger one is refused.
func TestMaxRowsIsWhatLimitTakes(t *testing.T) {
	for _, r := range api.Routes() {
		for _, p := range r.Params {
			if (p.Name == "limit" || p.Name == "days" && r.Path == "/stats/daily") && int(p.Max) != r.MaxRows {
				t.Errorf("%s: %s takes %d, max_rows is %d", r.Path, p.Name, p.Max, r.MaxRows)
			}
		}
	}
}

// The default window is seven days everywhere.
func TestEveryPeriodIsSevenDaysByDefault(t *testing.T) {
	for _, r := range api.Routes() {
		for _, p := range r.Params {
			if p.Name == "period" && p.Default != "7d" {
				t.Errorf("%s: period is %s by default", r.Path, p.Default)
			}
		}
	}
}
