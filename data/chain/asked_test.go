package chain

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"pmx/data"
)

// TestWhatIsAskedForIsWhatIsRead: all events that the decoder reads are requested, and only from
// contracts that emit any.
func TestWhatIsAskedForIsWhatIsRead(t *testing.T) {
	if got := Topics(Contracts()); len(got) != len(readEvents) || !slices.IsSortedFunc(got, func(a, b data.Hash) int { return bytes.Compare(a[:], b[:]) }) {
		t.Errorf("%d topics of %d events", len(got), len(readEvents))
	}
	for _, c := range Contracts() {
		if want := c.Kind != Other && (c.Kind != Module || c.Module != combos); c.IsAsked() != want {
			t.Errorf("%s is requested: %v", c.Name, c.IsAsked())
		}
	}
}

// TestAnOperatorExtendsTheContracts: a new one is added, and a known one is replaced by the
// operator's.
func TestAnOperatorExtendsTheContracts(t *testing.T) {
	before := Contracts()
	added := `[{"name":"Module 4","kind":"module","module":4,"address":"0x4000000000000000000000000000000000000004","from_block":7},
		{"name":"Exchange v3","kind":"exchange_v3","address":"0xe3333700ca9d93003f00f0f71f8515005f6c00aa","from_block":86000000}]`
	after, err := Extended(added)
	if err != nil || len(after) != len(before)+1 {
		t.Fatalf("%v, %d contracts after %d", err, len(after), len(before))
	}
	last := after[len(after)-1]
	if last.Name != "Module 4" || last.Start() != 7 || !last.IsAsked() {
		t.Errorf("%+v", last)
	}
	for i, c := range before {
		changed := c.Kind == ExchangeV3
		if (after[i] == c) == changed || after[i].Filter() != c.Filter() {
			t.Errorf("%s became %+v", c.Name, after[i])
		}
		if changed && (c.Start() != firstOfV2 || after[i].Start() != 86_000_000) {
			t.Errorf("starts %d, %d", c.Start(), after[i].Start())
		}
	}
	if same, err := Extended(""); err != nil || !slices.Equal(same, before) {
		t.Errorf("%v %v", same, err)
	}
	for _, bad := range []string{"{", `[{"name":"x","kind":"none","address":"0x4000000000000000000000000000000000000004"}]`} {
		if _, err := Extended(bad); err == nil || !strings.Contains(err.Error(), "contracts.json") {
			t.Errorf("%s: %v", bad, err)
		}
	}
}

// TestAnotherKindIsAnotherFilter: logs that were not requested before are requested from the start.
func TestAnotherKindIsAnotherFilter(t *testing.T) {
	seen := map[string]bool{}
	c := Contracts()[0]
	kinds := []Kind{ExchangeV1, ExchangeV2, ExchangeV3, FeeModule, ConditionalTokens}
	for _, c.Kind = range kinds {
		seen[c.Filter()] = true
	}
	if len(seen) != len(kinds) {
		t.Errorf("%v", seen)
	}
}
