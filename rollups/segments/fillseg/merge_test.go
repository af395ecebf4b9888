package fillseg

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"pmx/data"
	"pmx/rollups/serving"
)

// A merge copies the blocks of a file that are older than all rows of the others, also between rows that it packs again,
// and sums them.
func TestAMergeCopiesBlocksBetweenRows(t *testing.T) {
	for _, late := range []int{0, 1, 63, 64, 65, 128} {
		s := NewWalletStore(filepath.Join(t.TempDir(), "wallets.seg"), scrambled{})
		s.Sync = func(*os.File) error { return nil }
		s.heavyFrom, s.laterHeavy, s.mostFiles = 100, 100, 3
		if err := s.Restart(-1, true); err != nil {
			t.Fatal(err)
		}
		const each = 11 * blockRows // fills of a batch
		var facts []serving.Fill
		sums := map[data.TokenID]*serving.TokenSum{}
		for batch := range int64(3) {
			for i := range int64(each) {
				n := batch*each + i
				f := serving.Fill{TS: (epoch + n) * second, Wallet: 2, Token: data.TokenID(n % 5), Repeat: 1, LogIndex: int32(n), Shares: data.Micro(n) * 10_000, USD: data.Micro(n), Tx: data.Hash{byte(n), byte(n >> 8), 1}}
				if batch > 0 && i < int64(late) { // among those of the first batch, some at the time of the last one of a block
					f.TS = (epoch + 63 + 64*batch + i%2) * second
				}
				facts = append(facts, f)
				if sums[f.Token] == nil {
					sums[f.Token] = &serving.TokenSum{}
				}
				sums[f.Token].Add(&f)
			}
			if batch == 2 {
				s.mostFiles = 1
			}
			s.Add(Batch{Number: batch, Fills: slices.Clone(facts[batch*each:])})
			err := s.Build(context.Background(), s.Plan(), func(add func(int64, *serving.Fill) error) error {
				for i := range facts {
					if err := add(int64(i/each), &facts[i]); err != nil {
						return err
					}
				}
				return nil
			})
			if err != nil {
				t.Fatal(err)
			}
		}
		slices.SortFunc(facts, func(x, y serving.Fill) int { return s.order(&y, &x) })
		if got, ok := s.Fills(nil, 2, 2, nil, len(facts)+1); !ok || !slices.Equal(got, facts) || s.Stats().Files != 1 {
			t.Errorf("%d late fills: %d of %d, %v, or in another order: %+v", late, len(got), len(facts), ok, s.Stats())
		}
		for at := 0; at+10 < len(facts); at += 31 {
			if got, ok := s.Fills(nil, 2, 2, &facts[at], 9); !ok || !slices.Equal(got, facts[at+1:at+10]) {
				t.Errorf("%d late fills: others after fill %d, %v", late, at, ok)
			}
		}
		got, ok := s.Tokens(nil, 2, 2)
		if !ok || len(got) != len(sums) {
			t.Errorf("%d late fills: sums of %d tokens, %v", late, len(got), ok)
		}
		for _, sum := range got {
			if sum != *sums[sum.Token] {
				t.Errorf("%d late fills: %+v, want %+v", late, sum, *sums[sum.Token])
			}
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}
}
