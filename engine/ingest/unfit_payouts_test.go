package ingest_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"pmx/data/testfiles"
	"pmx/engine/ingest"
)

// TestPayoutsAreOneForEachOutcome: others are reported and not used, whether the market or its
// payouts came first, and valid ones are still used.
func TestPayoutsAreOneForEachOutcome(t *testing.T) {
	v := open(t)
	market := func(outcomes string) string {
		return fmt.Sprintf(`[{"id":"1","conditionId":"%s","question":"Q?","outcomes":"%s","updatedAt":"2026-01-03T00:00:00Z"}]`, hashTwo, outcomes)
	}
	const two, three = `[\"a\",\"b\"]`, `[\"a\",\"b\",\"c\"]`
	for nth, c := range []struct{ outcomes, payouts, want string }{
		{two, `["1","0"]`, "[1000000 0]"},
		{three, `["0","1","0"]`, "[0 1000000 0]"},
		{two, `["1","0","0"]`, ""},
		{three, `["1","0"]`, ""},
	} {
		for _, first := range []bool{true, false} {
			if !testfiles.Long() && first == (nth%2 > 0) {
				continue // every second case is tried in this order
			}
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
				if e != nil || accounted(t, r) != r.Read {
					t.Fatalf("%v: counts add up to %d of %+v", e, accounted(t, r), r)
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
				t.Errorf("%s of %s, market first %v: last = %+v", c.payouts, c.outcomes, first, last)
			}
		}
	}
}

// TestUnfitPayoutsDoNotReplaceGoodOnes: payouts whose number differs from that of the outcomes have no
// effect on a market, whatever their rank, and whether they came before the market, with it or
// after it.
func TestUnfitPayoutsDoNotReplaceGoodOnes(t *testing.T) {
	v := open(t)
	rng := rand.New(rand.NewPCG(7, 8))
	pick := func(of ...string) string { return of[rng.IntN(len(of))] }
	market := func(day int, outcomes string) string {
		return fmt.Sprintf(`[{"id":"1","conditionId":"%s","question":"Q?","outcomes":"%s","updatedAt":"2026-01-%02dT00:00:00Z"}]`, hashTwo, outcomes, day)
	}
	const two, three = `[\"a\",\"b\"]`, `[\"a\",\"b\",\"c\"]`
	for nth := range testfiles.Cases(2, 10) {
		steps := []string{market(3, pick(two, three))}
		if nth%3 == 0 {
			steps = append(steps, market(4, pick(two, three)))
		}
		for range 4 {
			steps = append(steps, saysAt(pick(yes, no, `["1","0","0"]`, `["0","0","1"]`), pick("map", "winner", "chain"), pick("", "2026-01-01T00:00:00Z"),
				pick("", "2026-03-01T00:00:00Z", "2026-03-02T00:00:00Z")))
		}
		var want []string
		for try := range testfiles.Cases(2, 3) {
			v.empty()
			rows := ""
			flush := func() {
				if rows != "" {
					v.list(ingest.Options{}, rows)
				}
				rows = ""
			}
			for _, step := range steps {
				if strings.HasPrefix(step, "[") {
					flush()
					if _, err := v.load("market.json", step); err != nil {
						t.Fatal(err)
					}
					continue
				}
				if rows += step; rng.IntN(2) == 0 {
					flush()
				}
			}
			flush()
			got := v.facts()["markets"]
			if try == 0 {
				want = got
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Fatalf("%s: diff = %s", strings.Join(steps, "\n"), diff)
			}
			rng.Shuffle(len(steps), func(i, j int) { steps[i], steps[j] = steps[j], steps[i] })
		}
	}
}
