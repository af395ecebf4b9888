package fillseg

import (
	"context"
	"path/filepath"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"pmx/data"
	"pmx/engine/guard"
	"pmx/rollups/serving"
)

// TestFillsAreSorted: a buffer's fills are moved in the order of key and kind.order, whatever order they came in.
func TestFillsAreSorted(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		k := kind{byToken: rapid.Bool().Draw(rt, "by token"), names: scrambled{}}
		if k.byToken {
			k.most = 3
		}
		gathering, sorted := buffer{kind: k}, buffer{}
		gathering.reset()
		most := rapid.SampledFrom([]int{2, 4000, maxID}).Draw(rt, "keys")
		id := rapid.IntRange(0, most)
		for range 2 { // the second time in the memory of the first
			var want []serving.Fill
			for range rapid.IntRange(0, 50).Draw(rt, "fills") {
				f := serving.Fill{TS: epoch*second + rapid.Int64Range(0, 2*second).Draw(rt, "time"), Wallet: data.WalletID(id.Draw(rt, "wallet")),
					Token: data.TokenID(id.Draw(rt, "token")), Tx: data.Hash{rapid.Byte().Draw(rt, "tx")}, LogIndex: rapid.Int32Range(-1, 1).Draw(rt, "log"), Repeat: 1}
				if rapid.Bool().Draw(rt, "late") {
					f.TS = (epoch + maxTime - f.TS%3) * second
				}
				if err := gathering.add(&f); err != nil {
					rt.Fatal(err)
				}
				want = append(want, f)
			}
			slices.SortFunc(want, func(x, y serving.Fill) int {
				if k.key(&x) != k.key(&y) {
					return int(k.key(&x) - k.key(&y))
				}
				return k.order(&x, &y)
			})
			gathering.moveTo(&sorted)
			var got []serving.Fill
			for i := range sorted.entries {
				got = append(got, sorted.fill(&sorted.entries[i]))
			}
			if !slices.Equal(got, want) {
				rt.Fatalf("got %v\nwant %v", got, want)
			}
			if len(gathering.entries)+len(gathering.hashes)+len(gathering.wide) > 0 {
				rt.Fatal("fills are left")
			}
		}
	})
}

// TestRecentHashesAreKnown: a hash keeps its place as long as no two generations of others were seen since, also if all begin alike.
func TestRecentHashesAreKnown(t *testing.T) {
	var r recentHashes
	r.reset()
	recent, older := map[data.Hash]uint32{}, map[data.Hash]uint32{}
	var hashes []data.Hash
	for i := range 5 * hashesRemembered {
		n := i
		if i%3 == 0 {
			n = i * 7919 % (i + 1) // one that may have been seen
		}
		h := data.Hash{31: byte(n), 30: byte(n >> 8), 29: byte(n >> 16)}
		want, wantKnown := recent[h]
		if !wantKnown {
			want, wantKnown = older[h]
		}
		if !wantKnown {
			want = uint32(len(hashes))
		}
		if len(recent) >= hashesRemembered {
			recent, older = map[data.Hash]uint32{}, recent
		}
		recent[h] = want
		got, known := r.ordinal(&h, hashes)
		if got != want || known != wantKnown {
			t.Fatalf("hash %d: %d, %v, want %d, %v", i, got, known, want, wantKnown)
		}
		if !known {
			hashes = append(hashes, h)
		}
	}
	if r.reset(); r.recent.count+r.older.count > 0 {
		t.Error("hashes are left")
	}
}

// TestAPanicWhileASliceIsWrittenIsTheBuilds, and nothing is left of the file.
func TestAPanicWhileASliceIsWrittenIsTheBuilds(t *testing.T) {
	s := made(t, 500)
	defer func() { _ = s.Close() }()
	s.bufferFills = 16
	s.Start = func(func() error) <-chan error { return guard.Start(func() error { panic("here") }) }
	s.Add(Batch{Number: 1})
	defer func() {
		if p, ok := recover().(*guard.Panic); !ok || p.Value != "here" {
			t.Errorf("the build ended with %v", p)
		}
		if list, err := filepath.Glob(filepath.Join(filepath.Dir(s.Path), "*.part-*")); err != nil || len(list) > 0 {
			t.Errorf("left: %v, %v", list, err)
		}
	}()
	err := s.Build(context.Background(), s.Plan(), func(add func(int64, *serving.Fill) error) error {
		for range 40 {
			if err := add(1, &serving.Fill{TS: epoch * second, Repeat: 1}); err != nil {
				return err
			}
		}
		return nil
	})
	t.Errorf("err = %v", err)
}
