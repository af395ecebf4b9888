package sample

import (
	"fmt"
	"math/big"
	"strings"
	"testing"
	"time"
)

// TestBlocksAndTimesAreOneAnothers checks that BlockOf is the inverse of BlockTime, that times
// ascend, and that BlockAt returns no block with a later time.
func TestBlocksAndTimesAreOneAnothers(t *testing.T) {
	for n := int64(swiftBlock - 1000); n < swiftBlock+1000; n++ {
		at := BlockTime(n)
		if BlockOf(at) != n || BlockTime(n+1) <= at || BlockTime(n+1) > at+2 {
			t.Fatalf("block %d at %d is block %d; the next is at %d", n, at, BlockOf(at), BlockTime(n+1))
		}
		if got := BlockAt(time.Unix(at+1, 0)); got != n && got != n-1 && BlockTime(got) > at+1 {
			t.Fatalf("block %d exists at %d", got, at+1)
		}
	}
	if at := time.UnixMilli(swiftSince*1000 + 4499); BlockAt(at) != swiftBlock+2 || BlockAt(at.Add(time.Millisecond)) != swiftBlock+3 {
		t.Errorf("block %d", BlockAt(at))
	}
	if at := time.UnixMilli(swiftSince*1000 - 1); BlockAt(at) != swiftBlock-1 {
		t.Errorf("block %d", BlockAt(at))
	}
}

// TestVenueOfAChainIsTheOneOfItsFiles checks that the rows of the venue in memory are those of its
// file of fills, have the times of blocks, and name the exchange of their day.
func TestVenueOfAChainIsTheOneOfItsFiles(t *testing.T) {
	for _, end := range []string{"2026-05-10T00:00:00Z", DefaultEnd} {
		at, err := time.Parse(time.RFC3339, end)
		if err != nil {
			t.Fatal(err)
		}
		cfg := Config{Fills: 5000, Seed: 4, End: at, Chain: true}
		file, _, m := stream1(t, cfg)
		lines := strings.Split(strings.TrimSpace(string(file)), "\n")[1:]
		v, err := New(t.Context(), cfg)
		if err != nil {
			t.Fatal(err)
		}
		if m.FillFiles, m.EventsFile = nil, (File{}); fmt.Sprint(m) != fmt.Sprint(v.Manifest) {
			t.Errorf("%+v, want %+v", v.Manifest, m)
		}
		for i := range v.Matches {
			match := &v.Matches[i]
			if BlockTime(BlockOf(match.At)) != match.At {
				t.Fatalf("no block has the time %d", match.At)
			}
			rows := v.AppendRows(nil, match)
			taker := v.Wallet(rows[len(rows)-1].Wallet)
			for _, r := range rows {
				token := v.Markets[match.Market].Tokens[r.Outcome]
				give, gave, get, got := new(big.Int).SetBytes(token[:]).String(), r.Shares, "0", r.USD
				if r.Buy {
					give, gave, get, got = get, got, give, gave
				}
				other := taker.String()
				if r.Taker {
					other = v.cfg.contract(v.events[v.Markets[match.Market].Event], match.At)
				}
				if want := fmt.Sprintf("%d,%s,%s,%d,%s,%s,%d,%s", match.At, v.Wallet(r.Wallet), give, gave, other, get, got, v.Tx(i)); lines[0] != want {
					t.Fatalf("%s, want %s", lines[0], want)
				}
				lines = lines[1:]
			}
		}
		if len(lines) > 0 {
			t.Errorf("%d rows too many", len(lines))
		}
	}
}
