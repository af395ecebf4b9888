package ingest_test

import (
	"fmt"
	"strings"
	"testing"

	"pmx/engine/ingest"
)

// TestPayoutsAreOneForEachOutcome: others are named and not taken, whether the market or
// its payouts came first, and good ones stand beside them.
func TestPayoutsAreOneForEachOutcome(t *testing.T) {
	v := open(t)
	market := func(outcomes string) string {
		return fmt.Sprintf(`[{"id":"1","conditionId":"%s","question":"Q?","outcomes":"%s","updatedAt":"2026-01-03T00:00:00Z"}]`, hashTwo, outcomes)
	}
	const two, three = `[\"a\",\"b\"]`, `[\"a\",\"b\",\"c\"]`
	for _, c := range []struct{ outcomes, payouts, want string }{
		{two, `["1","0"]`, "[1000000 0]"},
		{two, `["1","0","0"]`, ""},
		{three, `["1","0"]`, ""},
		{three, `["0","1","0"]`, "[0 1000000 0]"},
	} {
		for _, first := range []bool{true, false} {
			v.empty()
			steps := []func() (ingest.Receipt, error){
				func() (ingest.Receipt, error) { return v.load("market.json", market(c.outcomes)) },
				func() (ingest.Receipt, error) { return v.load("winners.csv", won+says(c.payouts, "winner", "")) },
			}
			if !first {
				steps[0], steps[1] = steps[1], steps[0]
			}
			var last ingest.Receipt
			var err error
			for _, step := range append(steps, steps...) {
				r, e := step()
				if e != nil || parts(t, r) != r.Read {
					t.Fatalf("%v: parts %d of %+v", e, parts(t, r), r)
				}
				if r.Conflicts > 0 {
					last, err = r, e
				}
			}
			if got := strings.Trim(v.lines("SELECT payouts FROM markets"), "|\n"); got != c.want || err != nil {
				t.Errorf("%s of %s, market first %v: payouts %q, want %q", c.payouts, c.outcomes, first, got, c.want)
			}
			if got := strings.Trim(v.lines("SELECT count(payout_source) + count(payout_at) + count(resolved_at_source) FROM markets"), "|\n"); c.want == "" && got != "0" {
				t.Errorf("%s of %s, market first %v: %s columns of the payouts are left", c.payouts, c.outcomes, first, got)
			}
			if c.want == "" && (last.Conflicts != 1 || len(last.ConflictMarkets) != 1 || len(v.kept(last)) != 1) {
				t.Errorf("%s of %s, market first %v: %+v", c.payouts, c.outcomes, first, last)
			}
		}
	}
}
