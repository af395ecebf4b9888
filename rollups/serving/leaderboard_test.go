package serving

import (
	"cmp"
	"errors"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	godiff "github.com/google/go-cmp/cmp"

	"pmx/data"
)

// Windows that are composed of parts equal sums over random rows, each at one time.
func TestLeaderboardsAddUpWindows(t *testing.T) {
	rng := rand.New(rand.NewPCG(4, 2))
	upTo := time.Date(2026, 3, 1, 12, 30, 0, 0, time.UTC).UnixMicro()
	cuts := LeaderboardCuts(upTo)
	type drawn struct {
		at       int64
		category string
		row      LeaderboardRow
	}
	var all []drawn
	for i := range 4000 {
		at := upTo - rng.Int64N(upTo-cuts[len(cuts)-1])
		if i%10 == 0 { // at a boundary, which belongs to the window before
			at = append(cuts[:len(cuts)-1:len(cuts)-1], upTo)[rng.IntN(len(cuts))]
		}
		amount := func() data.Micro { return data.Micro(rng.Int64N(1<<40) - 1<<39) }
		all = append(all, drawn{at, []string{"", "sports", "weather"}[rng.IntN(3)], LeaderboardRow{Wallet: data.WalletID(rng.Int32N(200)), Fills: rng.Int64N(9), BuyUSD: amount(), SellUSD: amount(),
			FeeUSD: amount(), Unresolved: amount(), Redemption: amount(), Undated: amount(), UndatedMarkets: rng.Int64N(2)}})
	}
	slices.SortFunc(all, func(x, y drawn) int { return cmp.Compare(x.row.Wallet, y.row.Wallet) })
	leaderboards := NewLeaderboards(upTo, 0)
	for i := range all {
		age := 0
		for age < len(cuts) && all[i].at <= cuts[age] {
			age++
		}
		if err := leaderboards.Add(age, all[i].category, &all[i].row); err != nil {
			t.Fatal(err)
		}
	}
	for p := range Periods {
		for _, before := range []bool{false, true} {
			for _, categories := range [][]string{nil, {"sports"}, {"sports", "weather"}, {"none"}} {
				hi := upTo
				if before {
					hi -= p.Length().Microseconds()
				}
				want := map[data.WalletID]LeaderboardRow{}
				for i := range all {
					d := &all[i]
					if d.at > hi || d.at <= hi-p.Length().Microseconds() || categories != nil && !slices.Contains(categories, d.category) {
						continue
					}
					sum := want[d.row.Wallet]
					sum.Wallet = d.row.Wallet
					sum.add(&d.row)
					want[d.row.Wallet] = sum
				}
				got := map[data.WalletID]LeaderboardRow{}
				for _, r := range leaderboards.Rows(p, before, categories) {
					got[r.Wallet] = r
				}
				if diff := godiff.Diff(want, got); diff != "" || (len(got) == 0) != (len(categories) == 1 && categories[0] == "none") {
					t.Errorf("%v, before %v, %q: %d wallets (-by hand +leaderboards):\n%s", p, before, categories, len(got), diff)
				}
			}
		}
	}
}

// Leaderboards that are too large are made without the part that only previous ranks need, and fail
// if that is not enough.
func TestLeaderboardsKeepToTheirMemory(t *testing.T) {
	upTo := time.Date(2026, 3, 1, 12, 30, 0, 0, time.UTC).UnixMicro()
	fill := func(most int64) (*Leaderboards, error) {
		b := NewLeaderboards(upTo, most)
		for _, category := range []string{"a", "b"} {
			for _, age := range []int{0, 3, 5} {
				for wallet := range data.WalletID(500) {
					if err := b.Add(age, category, &LeaderboardRow{Wallet: wallet, Fills: 1, BuyUSD: data.Micro(age+1) * data.One}); err != nil {
						return b, err
					}
				}
			}
		}
		return b, nil
	}
	bought := func(b *Leaderboards, before bool) (sum data.Micro) {
		for _, r := range b.Rows(Month, before, nil) {
			sum += r.BuyUSD
		}
		return sum
	}
	whole, err := fill(0)
	if err != nil || whole.Len != 3000 || bought(whole, false) != 5000*data.One || bought(whole, true) != 6000*data.One {
		t.Fatalf("%d rows, %v: %d and before %d bought", whole.Len, err, bought(whole, false), bought(whole, true))
	}
	if b, err := fill(whole.Bytes); err != nil || b.Len != whole.Len || b.Bytes != whole.Bytes {
		t.Errorf("with room for all %d rows of %d bytes, %v", b.Len, b.Bytes, err)
	}
	b, err := fill(whole.Bytes - 1)
	if err != nil || b.Len != 2000 || b.Bytes >= whole.Bytes || bought(b, false) != 5000*data.One || bought(b, true) != 0 {
		t.Errorf("with less room %d rows of %d bytes, %v: %d and before %d bought", b.Len, b.Bytes, err, bought(b, false), bought(b, true))
	}
	if b, err := fill(b.Bytes - 1); !errors.Is(err, ErrLeaderboardsTooLarge) {
		t.Errorf("with too little room %d rows, %v", b.Len, err)
	}
}
