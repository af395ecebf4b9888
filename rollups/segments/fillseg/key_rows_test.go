package fillseg

import (
	"encoding/binary"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"pmx/data"
	"pmx/rollups/segments"
	"pmx/rollups/serving"
)

// Pages of a wallet with many blocks are complete, also where all fills of a block, and of the next one, have the same
// time, and in two files.
func TestPagesAcrossBlocks(t *testing.T) {
	s := NewWalletStore(filepath.Join(t.TempDir(), "wallets.seg"), scrambled{})
	defer func() { _ = s.Close() }()
	s.Sync = func(*os.File) error { return nil }
	if err := s.Restart(0, false); err != nil {
		t.Fatal(err)
	}
	want := make([]serving.Fill, 1500)
	for i := range want {
		want[i] = serving.Fill{TS: (epoch + int64(i/150)) * second, Tx: data.Hash{byte(i % 7), byte(i)}, LogIndex: int32(i), Wallet: 3, Token: data.TokenID(i % 9), Repeat: 1, Shares: data.Micro(i), USD: data.Micro(i / 2)}
		if i%400 == 0 {
			want[i].TS += 5
		}
	}
	buildAll(t, s.Store, want)
	slices.SortFunc(want, func(x, y serving.Fill) int { return s.order(&y, &x) })
	for _, n := range []int{1, 63, 64, 65, 150, 2000} {
		var after *serving.Fill
		for at := 0; ; at += n {
			page, ok := s.Fills(nil, 3, 0, after, n)
			if rest := want[min(at, len(want)):]; !ok || !slices.Equal(page, rest[:min(n, len(rest))]) {
				t.Fatalf("pages of %d: %d fills after %d, %v", n, len(page), at, ok)
			}
			if len(page) < n {
				break
			}
			after = &page[n-1]
		}
	}
}

// Whatever the bytes of a wallet's rows are, in a file whose checksums match, a read ends with rows or with damage.
func TestRowsOfAnyBytes(t *testing.T) {
	dir := t.TempDir()
	damaged, read := 0, 0
	rapid.Check(t, func(rt *rapid.T) {
		s := NewWalletStore(filepath.Join(dir, "wallets.seg"), scrambled{})
		s.Sync = func(*os.File) error { return nil }
		w, err := newWriter(s.Path, &s.kind, false, heavyFills)
		if err != nil {
			rt.Fatal(err)
		}
		blocks := rapid.IntRange(1, 4).Draw(rt, "blocks")
		var text, dir []byte
		last := byte(0)
		for i := range blocks {
			if i > 0 {
				dir = binary.LittleEndian.AppendUint64(dir, uint64(len(text)))
			}
			list := anyRows(rt)
			for len(list) < blockRows && i < blocks-1 {
				list = append(list, list[len(list)-1])
			}
			for i := range list {
				list[i].tx = noTx // the file has no hashes
			}
			last = byte(len(list) - 1)
			if b := packRows(list, true); rapid.IntRange(0, 5).Draw(rt, "junk") > 0 {
				text = append(text, b[:len(b)-wordSize]...)
			} else {
				text = append(text, rapid.SliceOfN(rapid.Byte(), 0, 90).Draw(rt, "bytes")...)
			}
		}
		if blocks > 1 {
			last |= severalBit
			if at := rapid.IntRange(-40, len(dir)-1).Draw(rt, "spoilt"); at >= 0 {
				dir[at] ^= rapid.Byte().Draw(rt, "with")
			}
			dir = binary.LittleEndian.AppendUint32(dir, uint32(rapid.SampledFrom([]int{blocks, blocks, blocks, blocks + 1, 0, 1, 1 << 31}).Draw(rt, "count")))
		}
		text = append(text, dir...)
		if rapid.IntRange(0, 5).Draw(rt, "another end") == 0 {
			last = rapid.Byte().Draw(rt, "last")
		}
		text = append(text, last)
		p := rangeWriter{to: w, rows: text, keys: []keyPlace{{}}}
		for _, err := range []error{w.Pad(), p.flush(), w.finish(segments.Coverage{Batch: 0}, s.Sync)} {
			if err != nil {
				rt.Fatal(err)
			}
		}
		for range 2 {
			if ok, err := s.Open(func(segments.Coverage) (bool, error) { return true, nil }); !ok || err != nil {
				rt.Fatalf("not opened: %v, %v", ok, err)
			}
			fills, ok := s.Fills(nil, 0, 0, nil, 100)
			if ok && len(fills) > 0 {
				_, ok = s.Fills(nil, 0, 0, &fills[len(fills)-1], 100)
			}
			if ok {
				_, ok = s.Tokens(nil, 0, 0)
			}
			if ok {
				read++
			} else {
				damaged++
			}
			if ok == (s.Damage() != nil) {
				rt.Fatalf("read %v, damage %v", ok, s.Damage())
			}
			if err := s.Close(); err != nil {
				rt.Fatal(err)
			}
		}
	})
	t.Logf("%d read, %d damaged", read, damaged)
}
