package keeper_test

import (
	"fmt"
	"testing"

	"pmx/data/testfiles"
)

// TestNamesDoNotDependOnTheOrderOfFiles: of four names of a wallet, the newest counts, whichever
// file comes first; of two of the same time, the last in alphabetical order. A name that occurs
// again is as new as its last occurrence.
func TestNamesDoNotDependOnTheOrderOfFiles(t *testing.T) {
	testfiles.InLong(t, "TestAnswersDoNotDependOnHistory imports names in two orders")
	row := func(wallet, at, name string) string {
		return fmt.Sprintf("2026-07-0%sT10:00:00Z,0x00000000000000000000000000000000000000%s,taker,1000,BUY,10,%s,%s\n", at, wallet, at, name)
	}
	const header = "ts,wallet,role,token,side,shares,usd,name\n"
	files := map[rune]string{
		'a': header + row("aa", "1", "ann") + row("bb", "1", "bob"),
		'b': header + row("aa", "5", "ann") + row("bb", "1", "bert"),
		'c': header + row("aa", "3", "bea") + row("bb", "1", "carl"),
	}
	for _, order := range []string{"abc", "cba", "aabbccab", "acb", "bac", "bca", "cab"}[:testfiles.Cases(2, 7)] {
		k := open(t, t.TempDir())
		for _, name := range order {
			mustImport(t, k, write(t, "t.csv", files[name]))
		}
		if got := table(t, k, "SELECT n.name FROM wallet_names AS n JOIN wallets AS w USING (wallet) ORDER BY w.address"); got != "ann|\ncarl|\n" {
			t.Errorf("order %s: %s", order, got)
		}
		alsoVerify(t, k)
	}
}
