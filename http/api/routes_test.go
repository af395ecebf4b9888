package api_test

import (
	"testing"

	"pmx/engine/export/job"
	"pmx/http/access"
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

// A method that a path does not have is refused with those that it has, whether it is a method of HTTP or not.
func TestRefusedMethodsAreToldWhatIsAllowed(t *testing.T) {
	v := newExporter(t, job.Limits{})
	for path, allowed := range map[string]string{"/research/export-jobs": "POST", "/research/export-jobs/x": "GET, HEAD, DELETE", "/research/datasets": "GET, HEAD"} {
		for _, method := range []string{"PUT", "FOO", "PROPFIND"} {
			if r := v.ask(access.Trader, method, path, ""); r.status != 405 || r.text("code") != `"method_not_allowed"` || r.header("Allow") != allowed || r.text("plan") != `"trader"` {
				t.Errorf("%s %s: status = %d, Allow %q, body = %s, want %q", method, path, r.status, r.header("Allow"), r.Body(), allowed)
			}
			if r := v.ask(access.Nobody, method, path, ""); r.status != 401 {
				t.Errorf("%s %s without a key: status = %d", method, path, r.status)
			}
		}
	}
	for _, method := range []string{"PUT", "FOO"} {
		if r := v.ask(access.Trader, method, "/research/nothing", ""); r.status != 404 || r.text("code") != `"not_found"` {
			t.Errorf("%s to a path that is none: status = %d, body = %s", method, r.status, r.Body())
		}
	}
}
