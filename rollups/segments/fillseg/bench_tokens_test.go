package fillseg

import (
	"context"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"testing"

	"pmx/data"
	"pmx/rollups/serving"
)

// busyTokens has a token of so many fills, the first half in the first of so many files, and so many more in the
// memtable.
func busyTokens(tb testing.TB, fills, files, recent int) TokenStore {
	tb.Helper()
	s := NewTokenStore(filepath.Join(tb.TempDir(), "tokens.seg"), scrambled{}, 50)
	if err := s.Restart(0, false); err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { _ = s.Close() })
	rng := rand.New(rand.NewPCG(1, 2))
	n := int64(0)
	fill := func() serving.Fill {
		n++
		return serving.Fill{TS: (epoch + n*60) * second, Wallet: data.WalletID(rng.Int32N(270_000)), Token: 1, Side: data.Side(n & 1), Role: data.Taker, LogIndex: 3, Repeat: 1,
			Shares: data.Micro(rng.Int64N(1e9)), USD: data.Micro(rng.Int64N(1e9))}
	}
	for batch := range int64(files) {
		some := fills
		if files > 1 {
			some = fills / 2
		}
		if batch > 0 {
			some = fills / 2 / (files - 1)
		}
		s.Add(Batch{Number: batch})
		err := s.Build(context.Background(), s.Plan(), func(add func(int64, *serving.Fill) error) error {
			for range some {
				f := fill()
				if err := add(batch, &f); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			tb.Fatal(err)
		}
	}
	b := Batch{Number: int64(files)}
	for range recent {
		b.Fills = append(b.Fills, fill())
	}
	s.Add(b)
	if s.Stats().Files != files {
		tb.Fatalf("%+v", s.Stats())
	}
	return s
}

// What wallets and takers did with a busy token.
func BenchmarkTokenSums(b *testing.B) {
	for _, files := range []int{1, maxLevels} {
		for _, recent := range []int{0, 3_000} {
			s := busyTokens(b, 50_000, files, recent)
			var sums []serving.WalletSum
			b.Run(fmt.Sprintf("wallets/%d files, %d recent", files, recent), func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					sums, _ = s.Wallets(sums[:0], 1, s.Through())
				}
			})
			var hours []serving.PartialCandle
			b.Run(fmt.Sprintf("hours/%d files, %d recent", files, recent), func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					hours, _ = s.Hours(hours[:0], 1, s.Through())
				}
			})
		}
	}
}
