package fillseg

import (
	"slices"
	"testing"

	"pgregory.net/rapid"

	"pmx/data"
	"pmx/rollups/serving"
)

// TestHashesOfAWalletAreGathered: every fill keeps its hash, each hash is there once, and the hashes are in the order of the wallets
// with the fewest fills.
func TestHashesOfAWalletAreGathered(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		var s buffer
		gathering := buffer{kind: kind{names: scrambled{}}}
		gathering.reset()
		type placed struct {
			wallet data.WalletID
			tx     data.Hash
		}
		fills, counts := map[int64]placed{}, map[data.WalletID]int{}
		for i := range rapid.IntRange(0, 60).Draw(rt, "fills") {
			f := serving.Fill{TS: (epoch + int64(i)) * second, Wallet: data.WalletID(rapid.IntRange(0, 7).Draw(rt, "wallet")), Repeat: 1}
			if n := rapid.IntRange(0, 25).Draw(rt, "tx"); n > 0 { // 0: no hash
				f.Tx = data.Hash{byte(n), 1}
			}
			if err := gathering.add(&f); err != nil {
				rt.Fatal(err)
			}
			fills[f.TS] = placed{f.Wallet, f.Tx}
			counts[f.Wallet]++
		}
		before := slices.Clone(gathering.hashes)
		gathering.moveTo(&s)
		for i := range s.entries {
			f := s.fill(&s.entries[i])
			if got := (placed{f.Wallet, f.Tx}); got != fills[f.TS] {
				rt.Fatalf("fill at %d is %v, want %v", f.TS, got, fills[f.TS])
			}
		}
		owner := func(h data.Hash) (least data.WalletID) {
			least = -1
			for _, p := range fills {
				if p.tx == h && (least < 0 || counts[p.wallet] < counts[least] || counts[p.wallet] == counts[least] && p.wallet < least) {
					least = p.wallet
				}
			}
			return least
		}
		if !slices.IsSortedFunc(s.hashes, func(a, b data.Hash) int { return int(owner(a) - owner(b)) }) {
			rt.Errorf("hashes are not in the order of their wallets: %v", s.hashes)
		}
		compare := func(a, b data.Hash) int { return slices.Compare(a[:], b[:]) }
		slices.SortFunc(before, compare)
		after := slices.SortedFunc(slices.Values(s.hashes), compare)
		if !slices.Equal(before, after) {
			rt.Errorf("hashes are %v, were %v", after, before)
		}
	})
}
