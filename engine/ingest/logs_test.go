package ingest_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"pmx/data/testfiles"
	"pmx/engine/ingest"
)

const logHead = "ts,address,token_id,side,shares,usd,role,fee,transaction_hash,log_index\n"

// logRow is a fill of log 5 of one transaction.
func logRow(wallet, side, shares, usd, role, fee string) string {
	return fmt.Sprintf("2026-01-02T10:00:00Z,0x%s,71,%s,%s,%s,%s,%s,%s,5\n", strings.Repeat(wallet, 40), side, shares, usd, role, fee, hashOne)
}

// permutations calls f with every order of 0…n-1; in a short run only with the ascending and the
// descending one, in which each element is once before and once after every other.
func permutations(n int, f func([]int)) {
	order := make([]int, 0, n)
	if !testfiles.Long() {
		for i := range n {
			order = append(order, i)
		}
		f(order)
		if n > 1 {
			slices.Reverse(order)
			f(order)
		}
		return
	}
	var next func()
	next = func() {
		if len(order) == n {
			f(order)
			return
		}
	each:
		for i := range n {
			for _, o := range order {
				if o == i {
					continue each
				}
			}
			order = append(order, i)
			next()
			order = order[:len(order)-1]
		}
	}
	next()
}

func TestWhatIsSaidOfALogIsPutTogetherInAnyOrder(t *testing.T) {
	testfiles.InLong(t, "TestAnyOrderAndSplitOfFillsGivesTheSame imports random files that share logs")
	v := open(t)
	plain, taker, maker := logRow("a", "BUY", "100", "40", "", ""), logRow("a", "BUY", "100", "40", "taker", "3"), logRow("a", "BUY", "100", "40", "maker", "2")
	other, later := logRow("b", "SELL", "500", "300", "maker", "0"), strings.Replace(logRow("c", "BUY", "900", "900", "", "9"), "10:00:00Z", "10:00:01Z", 1)
	for name, c := range map[string]struct {
		rows      []string
		want      string
		conflicts bool
	}{
		"a known role and fee": {[]string{plain, taker}, "aa 1 BUY 2 3.000000", false},
		"two roles, two fees":  {[]string{plain, taker, maker}, "aa 1 BUY 1 3.000000", true},
		"another wallet":       {[]string{plain, other, taker}, "bb 1 SELL 1 0.000000", true},
		"another time":         {[]string{other, later}, "bb 1 SELL 1 0.000000", true},
	} {
		t.Run(name, func(t *testing.T) {
			v.t = t
			permutations(len(c.rows), func(order []int) {
				for _, files := range []int{1, len(order)} {
					if files == 1 && order[0] > 0 && !testfiles.Long() {
						continue // rows of one file are in another order if each has a file
					}
					v.empty()
					conflicts := v.logs(c.rows, order, files)
					got := v.lines("SELECT left(lower(hex(address)), 2), count(*) OVER (), if(side = 0, 'BUY', 'SELL'), role, (fee / 1000000.0)::DECIMAL(18,6)::VARCHAR " +
						"FROM fills JOIN wallets USING (wallet)")
					if got = strings.TrimSpace(strings.ReplaceAll(got, "|", " ")); got != c.want {
						t.Errorf("order %v in %d files: %s, want %s", order, files, got, c.want)
					}
					if conflicts != c.conflicts {
						t.Errorf("order %v in %d files: conflicts %v", order, files, conflicts)
					}
					if files > 1 || !testfiles.Long() && order[0] > 0 {
						continue // a short run imports one order twice
					}
					if v.logs(c.rows, order, files); v.lines("SELECT count(*) FROM fills") != "1|\n" {
						t.Errorf("order %v in %d files, imported twice: %s fills", order, files, v.lines("SELECT count(*) FROM fills"))
					}
				}
			})
		})
	}
}

// logs imports rows in an order, as so many files, and reports whether any receipt had a conflict.
// Every row must be in a receipt once, and every conflict must be stored.
func (v *intake) logs(rows []string, order []int, files int) (conflicts bool) {
	v.t.Helper()
	texts := make([]string, files)
	for i, nth := range order {
		texts[i%files] += rows[nth]
	}
	for _, text := range texts {
		r, err := v.bring(v.write("logs.csv", logHead+text), ingest.Options{})
		if err != nil {
			v.t.Fatal(err)
		}
		if sum := accounted(v.t, r); sum != r.Read || r.Read != int64(strings.Count(text, "\n")) {
			v.t.Errorf("%d of %d rows are in the receipt: %+v", sum, r.Read, r)
		}
		if r.Conflicts == 0 {
			continue
		}
		conflicts = true
		if want := []string{hashOne + ":5"}; r.Conflicts != 1 || !cmp.Equal(want, r.ConflictFills) || len(v.kept(r)) == 0 {
			v.t.Errorf("conflicts %d, %v, kept %v", r.Conflicts, r.ConflictFills, v.kept(r))
		}
	}
	return conflicts
}
