package ingest_test

import (
	"fmt"
	"strings"
	"testing"

	"pmx/data/testfiles"
)

// claim is a Gamma record of a market with its list of tokens.
func claim(condition string, day int, tokens string) string {
	list := ""
	if tokens != "" {
		list = fmt.Sprintf(`,"clobTokenIds":"[\"%s\"]"`, strings.ReplaceAll(tokens, " ", `\",\"`))
	}
	return fmt.Sprintf(`[{"id":"1","conditionId":"0x%s","question":"Q?","outcomes":"[\"Yes\",\"No\"]","updatedAt":"2026-01-%02dT00:00:00Z"%s}]`,
		strings.Repeat(condition, 32), day, list)
}

// tradeOf is a trade that names its token's market.
func tradeOf(condition, token string, outcome int) string {
	return fmt.Sprintf(`[{"proxyWallet":"%s","side":"BUY","asset":"%s","conditionId":"0x%s","size":10,"price":0.5,"timestamp":1767000000,`+
		`"outcomeIndex":%d,"transactionHash":"%s"}]`, addressA, token, strings.Repeat(condition, 32), outcome, hashOne)
}

func TestATokenHasOneMarketInAnyOrder(t *testing.T) {
	v := open(t)
	for name, c := range map[string]struct {
		files     []string
		want      string // token, condition, outcome
		conflicts bool
	}{
		"equal versions":     {[]string{claim("c1", 3, "71 72"), claim("c2", 3, "72 71")}, "71 c1 0, 72 c1 1", true},
		"the newer list":     {[]string{claim("c1", 3, "71 72"), claim("c2", 4, "72 71")}, "71 c2 1, 72 c2 0", true},
		"newer without list": {[]string{claim("c2", 3, "71 72"), claim("c1", 5, "72 71"), claim("c2", 9, "")}, "71 c2 0, 72 c2 1", true},
		"a list and a trade": {[]string{tradeOf("c1", "71", 1), claim("c2", 3, "71 72")}, "71 c2 0, 72 c2 1", false},
		"two trades":         {[]string{tradeOf("c2", "71", 1), tradeOf("c1", "71", 1)}, "71 c1 1", false},
		"trades, one market": {[]string{tradeOf("c1", "71", 1), tradeOf("c1", "71", 0)}, "71 c1 0", false},
	} {
		t.Run(name, func(t *testing.T) {
			v.t = t
			permutations(len(c.files), func(order []int) {
				v.empty()
				conflicts := false
				for _, nth := range order {
					r, err := v.load("claims.json", c.files[nth])
					if err != nil {
						t.Fatal(err)
					}
					if accounted(t, r) != r.Read {
						t.Errorf("order %v: counts add up to %d of %+v", order, accounted(t, r), r)
					}
					conflicts = conflicts || r.Conflicts > 0 && len(r.ConflictTokens) > 0 && len(v.kept(r)) > 0
				}
				query := "SELECT string_agg(token_id || ' ' || left(lower(hex(condition)), 2) || ' ' || t.outcome, ', ' ORDER BY token_id) " +
					"FROM tokens AS t JOIN markets USING (market)"
				if got := strings.Trim(v.lines(query), "|\n"); got != c.want || conflicts != c.conflicts {
					t.Errorf("order %v: %s, conflicts %v, want %s, %v", order, got, conflicts, c.want, c.conflicts)
				}
				again := order
				if !testfiles.Long() && (order[0] > 0 || name != "equal versions" && name != "a list and a trade") {
					again = nil // one order of two lists and of a trade is enough
				}
				for _, nth := range again {
					if r, err := v.load("claims.json", c.files[nth]); err != nil || r.TokensMapped > 0 {
						t.Errorf("order %v, again: %v %+v", order, err, r)
					}
				}
			})
		})
	}
}

// TestAReplacedListMapsItsTokens, whether a market's lists are in one file or in two.
func TestAReplacedListMapsItsTokens(t *testing.T) {
	v := open(t)
	older, newer := claim("c1", 3, "71 72"), claim("c1", 5, "71 73")
	for name, files := range map[string][]string{"two files": {older, newer}, "the newer first": {newer, older},
		"one": {strings.TrimSuffix(older, "]") + "," + newer[1:]}, "one, the newer first": {strings.TrimSuffix(newer, "]") + "," + older[1:]}} {
		v.empty()
		for range 2 {
			for _, f := range files {
				if _, err := v.load("claims.json", f); err != nil {
					t.Fatal(err)
				}
			}
		}
		want := "71|0||\n72|1||\n73|1||\n"
		if got := v.lines("SELECT token_id, outcome, derived FROM tokens WHERE market IS NOT NULL ORDER BY token_id"); got != want {
			t.Errorf("%s: got %q, want %q", name, got, want)
		}
	}
}
