package ingest_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"pmx/data/testfiles"
)

// TestManyNewTokensAreMappedAsFew imports fills of more than 4,096 new tokens, of markets that
// nothing else describes, at once and in small files: facts and the sums of the receipts are the
// same.
func TestManyNewTokensAreMappedAsFew(t *testing.T) {
	const tokens = 4200
	sizes := []int{190, 2000, tokens - 2190}
	if testfiles.Long() {
		sizes = slices.Repeat([]int{100}, tokens/100)
	}
	type figures struct{ Inserted, MarketsNew, MarketsChanged, TokensMapped, Unmapped int64 }
	load := func(sizes ...int) (map[string][]string, figures) {
		v, sum := open(t), figures{}
		from := 0
		for _, n := range sizes {
			var b strings.Builder
			b.WriteString("ts,address,token_id,side,shares,usd,transaction_hash,condition_id,outcome_index\n")
			for i := from; i < from+n; i++ {
				fmt.Fprintf(&b, "2026-01-01T%02d:%02d:%02dZ,0x%040x,%d,BUY,2,1,0x%064x,0x%064x,%d\n", i/3600, i/60%60, i%60, 1+i%7, 1000+i, 1+i, 1+i/2*7919%100003, i%2)
			}
			r, err := v.load(fmt.Sprintf("%d.csv", from), b.String())
			if err != nil {
				t.Fatal(err)
			}
			from += n
			sum.Inserted += r.Inserted
			sum.MarketsNew += r.MarketsNew
			sum.MarketsChanged += r.MarketsChanged
			sum.TokensMapped += r.TokensMapped
			sum.Unmapped += r.Unmapped
		}
		return v.facts(), sum
	}
	all, allSum := load(tokens)
	parts, partsSum := load(sizes...)
	if diff := cmp.Diff(partsSum, allSum); diff != "" || allSum.MarketsNew != tokens/2 || allSum.TokensMapped != tokens {
		t.Errorf("the file made %d markets and mapped %d tokens; sums of receipts (-small files +at once):\n%s", allSum.MarketsNew, allSum.TokensMapped, diff)
	}
	if diff := cmp.Diff(parts, all); diff != "" {
		t.Errorf("facts (-small files +at once):\n%.2000s", diff)
	}
}
