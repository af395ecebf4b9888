package api

import (
	"testing"

	"pmx/data"
	"pmx/rollups/serving"
)

// A cursor from before tokens were ordered by id, and one of another database in which that number
// is another token, are refused: the scan would omit or repeat fills.
func TestPlacesOfAnotherOrderAreRefused(t *testing.T) {
	c := serving.NewCatalog(nil, []serving.TokenRef{{Market: -1, ID: "70"}, {Market: -1, ID: "9"}})
	other := serving.NewCatalog(nil, []serving.TokenRef{{Market: -1, ID: "9"}, {Market: -1, ID: "70"}})
	f := serving.Fill{TS: 1_700_000_000_000_000, Tx: data.Hash{3, 31: 4}, LogIndex: data.NoIndex, Token: 1, Side: data.Sell, Repeat: 2, Shares: 5, USD: 6}
	place := appendFillPosition(nil, c, &f)
	got, bad := readFillPosition(place, c)
	if bad != nil || *got != f {
		t.Fatalf("%v: got %+v, want %+v", bad, got, f)
	}
	old := place[1 : len(place)-8] // as it was
	for name, refused := range map[string][]byte{"an older form": old, "an older form of this length": append(append([]byte(nil), old...), make([]byte, 9)...), "cut": place[:len(place)-1]} {
		if _, bad := readFillPosition(refused, c); bad == nil || bad.code != "invalid_cursor" {
			t.Errorf("%s: bad = %v", name, bad)
		}
	}
	if _, bad := readFillPosition(place, other); bad == nil || bad.code != "invalid_cursor" {
		t.Errorf("another database: %v", bad)
	}
}
