package ingest_test

import (
	"fmt"
	"strings"
	"testing"

	"pmx/data"
	"pmx/data/chain/encode"
	"pmx/engine/ingest"
)

// TestPayoutsThatFollowYieldToTheirOwn: the contract's payouts of a condition take precedence over
// those derived from another, and these over the data API's, in any order of import.
func TestPayoutsThatFollowYieldToTheirOwn(t *testing.T) {
	v := open(t)
	module, err := data.ParseAddress("0x200000900045e3b6259600682756002200028933")
	if err != nil {
		t.Fatal(err)
	}
	event := data.Hash{0: 2, 1: 0xab, 18: 2, 28: 0x89} // conditions 0 and 1, and other
	member := func(n byte) data.Hash { c := event; c[30] = n; return c }
	at := func(tx int, write ...func(l *encode.Log)) string {
		var lines []string
		for i, w := range write {
			l := encode.Log{Address: module, Block: 91660288 + int64(tx), Time: 1786195459 + int64(tx), Tx: data.Hash{31: byte(tx)}, Index: i}
			w(&l)
			lines = append(lines, string(l.AppendJSON(nil)))
		}
		return v.write(fmt.Sprint("logs", tx, ".ndjson"), strings.Join(lines, "\n")+"\n")
	}
	pays := func(n byte, yes data.Micro) func(l *encode.Log) {
		return func(l *encode.Log) { l.Resolved(member(n), [2]data.Micro{yes, data.One - yes}) }
	}
	paths := []string{
		at(1, pays(1, data.One), func(l *encode.Log) { l.Decided(event) }),
		at(2, pays(0, 0)), // a year later, as far as the time is concerned
		v.write("api.csv", fmt.Sprintf("condition_id,payouts,source,resolved_at,version\n%s,\"[\"\"1\"\",\"\"0\"\"]\",api,2026-08-08T12:00:00Z,2026-08-09T00:00:00Z\n%s,\"[\"\"0.5\"\",\"\"0.5\"\"]\",api,2026-08-08T12:00:00Z,2026-08-09T00:00:00Z\n", member(0), member(2))),
	}
	want := "1|[0, 1000000]|6|1786195461000000|4|\n1|[0, 1000000]|5|1786190400000000|3|\n1|[1000000, 0]|6|1786195460000000|4|\n"
	permutations(len(paths), func(order []int) {
		v.empty()
		for _, i := range order {
			r, err := v.bring(paths[i], ingest.Options{})
			if err != nil || r.Conflicts != 0 || r.RejectedRows() != 0 {
				t.Errorf("%v, %d: err = %v, r = %+v", order, i, err, r)
			}
		}
		if got := v.lines("SELECT count(*), payouts::VARCHAR, payout_source, payout_at, payout_at_source FROM markets GROUP BY ALL ORDER BY 2, 3 DESC"); got != want {
			t.Errorf("%v:\n%s\nwant\n%s", order, got, want)
		}
	})
}
