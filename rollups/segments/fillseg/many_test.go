package fillseg

import (
	"cmp"
	"path/filepath"
	"slices"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"pmx/data"
	"pmx/rollups/serving"
)

// A token with many fills that are in no file is returned as a sum for each wallet, not as single
// fills.
func TestManyFillsInMemoryAreHandedOutAsSums(t *testing.T) {
	const fills, wallets = 3*settledAt + 100, 40
	s := NewTokenStore(filepath.Join(t.TempDir(), "tokens.seg"), scrambled{}, 3)
	defer func() { _ = s.Close() }()
	if err := s.Restart(-1, true); err != nil {
		t.Fatal(err)
	}
	b := Batch{Fills: make([]serving.Fill, fills)}
	sums := map[data.WalletID]*serving.WalletSum{}
	for i := range b.Fills {
		f := serving.Fill{TS: (epoch + int64(i)) * second, LogIndex: int32(i), Wallet: data.WalletID(i % wallets), Token: 7,
			Side: data.Side(i % 2), Role: data.Taker, Repeat: 1, Shares: data.Micro(i), USD: data.Micro(2 * i)}
		b.Fills[i] = f
		if sums[f.Wallet] == nil {
			sums[f.Wallet] = &serving.WalletSum{Wallet: f.Wallet}
		}
		sum := serving.EventSumOf(&f)
		sums[f.Wallet].Merge(&sum)
	}
	s.Add(b)
	of := serving.WalletSum{Wallet: 1} // of another token
	got, ok := s.Wallets([]serving.WalletSum{of}, 7, 0)
	if !ok || len(got) > settledAt+2 || got[0] != of {
		t.Fatalf("%v: %d sums after %+v", ok, len(got)-1, got[0])
	}
	var want []serving.WalletSum
	for _, sum := range sums {
		want = append(want, *sum)
	}
	slices.SortFunc(want, func(x, y serving.WalletSum) int { return cmp.Compare(x.Wallet, y.Wallet) })
	if diff := gocmp.Diff(want, serving.SettleWallets(got[1:])); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}
