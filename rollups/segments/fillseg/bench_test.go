package fillseg

import (
	"context"
	"encoding/binary"
	"math/rand/v2"
	"path/filepath"
	"testing"

	"pmx/data"
	"pmx/rollups/serving"
)

// benchStore has many wallets with 20 fills, one with just too few to be heavy, and a market maker,
// in n files: if there are others, the first has half of the fills.
func benchStore(b *testing.B, files int) WalletStore {
	b.Helper()
	s := NewWalletStore(filepath.Join(b.TempDir(), "wallets.seg"), scrambled{})
	if err := s.Restart(0, false); err != nil {
		b.Fatal(err)
	}
	rng := rand.New(rand.NewPCG(1, 2))
	n := uint64(0)
	fill := func(wallet data.WalletID) *serving.Fill {
		n++
		f := &serving.Fill{TS: (epoch + int64(n)*7) * second, Wallet: wallet, Token: data.TokenID(rng.Int32N(40_000)), Side: data.Side(n & 1), Role: data.Taker, LogIndex: 3, Repeat: 1,
			Shares: data.Micro(rng.Int64N(1e9)), USD: data.Micro(rng.Int64N(1e9))}
		binary.BigEndian.PutUint64(f.Tx[:], n/2)
		return f
	}
	flush := func(batch int64, fills int) {
		s.Add(Batch{Number: batch})
		err := s.Build(context.Background(), s.Plan(), func(add func(int64, *serving.Fill) error) error {
			for i := range fills {
				wallet := data.WalletID(2 + rng.Int32N(15_000))
				switch {
				case i%41 == 0:
					wallet = 1 // 19,500 fills
				case i%8 > 2:
					wallet = 0
				}
				if err := add(batch, fill(wallet)); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			b.Fatal(err)
		}
	}
	const fills = 800_000
	if files == 1 {
		flush(0, fills)
	} else {
		flush(0, fills/2)
	}
	for batch := 1; batch < files; batch++ {
		flush(int64(batch), fills/2/(files-1))
	}
	if s.Stats().Files != files {
		b.Fatalf("s.Stats() = %+v", s.Stats())
	}
	b.Cleanup(func() { _ = s.Close() })
	return s
}

func BenchmarkReads(b *testing.B) { benchReads(b, benchStore(b, 1)) }

// The same from the maximum number of files.
func BenchmarkReadsOfManyFiles(b *testing.B) { benchReads(b, benchStore(b, maxLevels)) }

func benchReads(b *testing.B, s WalletStore) {
	last := s.Through()
	rng := rand.New(rand.NewPCG(3, 4))
	wallets := map[string]func() data.WalletID{"random": func() data.WalletID { return data.WalletID(2 + rng.Int32N(15_000)) }, "large": func() data.WalletID { return 1 },
		"maker": func() data.WalletID { return 0 }}
	var fills []serving.Fill
	var tokens []serving.TokenSum
	var days []serving.DaySum
	for _, name := range []string{"random", "large", "maker"} {
		wallet := wallets[name]
		b.Run("fills/"+name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				fills, _ = s.Fills(fills[:0], wallet(), last, nil, 50)
			}
		})
		b.Run("tokens/"+name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				tokens, _ = s.Tokens(tokens[:0], wallet(), last)
			}
		})
		b.Run("days/"+name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				days, _ = s.Days(days[:0], wallet(), last)
			}
		})
	}
}

// The cost of a file at a start: its header, its checksums and its index.
func BenchmarkOpen(b *testing.B) {
	s := benchStore(b, 1)
	b.ReportMetric(float64(s.Stats().Bytes), "file-bytes")
	for b.Loop() {
		r, err := openSegment(s.Path, s.first)
		if err != nil {
			b.Fatal(err)
		}
		if err := r.Release(); err != nil {
			b.Fatal(err)
		}
	}
}
