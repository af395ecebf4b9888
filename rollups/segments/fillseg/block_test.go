package fillseg

import (
	"encoding/binary"
	"errors"
	"math"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"pmx/data"
	"pmx/rollups/segments"
	"pmx/rollups/serving"
)

// packedFill is a row as a block has it.
type packedFill struct {
	serving.Fill
	tx    uint32
	other int32
}

func rowsOf(b *block) (out []packedFill) {
	for i := range b.n {
		f := packedFill{tx: b.tx[i], other: b.other[i]}
		b.get(i, &f.Fill)
		out = append(out, f)
	}
	return out
}

// anyRows draws the rows of a block: of each column, all values are alike, or a few are not, or all differ.
func anyRows(t *rapid.T) (out []packedFill) {
	n := rapid.IntRange(1, blockRows).Draw(t, "rows")
	rate := rapid.SampledFrom([]int64{100_000, 370_000, 123_000, 999_900}).Draw(t, "price")
	amount := func(name string, unit int64) data.Micro {
		switch rapid.IntRange(0, 9).Draw(t, name) {
		case 0:
			return anyAmount(t, name)
		case 1:
			return data.Micro(rapid.SampledFrom([]int64{0, 1, -1, math.MaxInt64, math.MinInt64}).Draw(t, name))
		}
		return data.Micro(rapid.Int64Range(0, 100_000).Draw(t, name) * unit)
	}
	unit := rapid.SampledFrom([]int64{1, 10_000, 1_000_000}).Draw(t, "unit")
	odd := rapid.IntRange(0, 3).Draw(t, "odd") // how often amounts are of any size
	own, ts := uint32(rapid.IntRange(0, 1<<20).Draw(t, "own")), int64(epoch*second)
	step := rapid.SampledFrom([]int64{1, second, maxTime * second / blockRows}).Draw(t, "step")
	hashes, logs := rapid.IntRange(0, 4).Draw(t, "hashes"), rapid.Bool().Draw(t, "logs")
	for range n {
		ts += rapid.Int64Range(0, 1).Draw(t, "step") * step
		f := packedFill{Fill: serving.Fill{TS: ts, Repeat: 1, LogIndex: data.NoIndex, Side: data.Side(rapid.IntRange(0, 1).Draw(t, "side")), Role: data.Role(rapid.IntRange(0, 2).Draw(t, "role"))}}
		f.Shares = data.Micro(rapid.Int64Range(0, 1<<24).Draw(t, "shares") * unit)
		f.USD = data.Micro(int64(f.Shares) / 1_000_000 * rate)
		if rapid.IntRange(0, 5).Draw(t, "as drawn") < odd {
			f.Shares, f.USD, f.Fee = amount("shares", unit), amount("dollars", 1), amount("fee", 1)
		}
		if logs {
			f.LogIndex = int32(rapid.SampledFrom([]int{-1, 0, 7, math.MaxInt32, math.MinInt32}).Draw(t, "log"))
			f.Repeat = int16(rapid.SampledFrom([]int{1, 2, math.MaxInt16, math.MinInt16}).Draw(t, "repeat"))
		}
		switch kind := rapid.IntRange(0, 4).Draw(t, "hash"); {
		case kind < hashes:
			f.tx = own
			own++
		case hashes == 4:
			f.tx = noTx
		case hashes == 3:
			f.tx = own
		default:
			f.tx = rapid.Uint32Range(0, noTx-1).Draw(t, "tx")
		}
		f.other = rapid.SampledFrom([]int32{0, 1, 77, maxID}).Draw(t, "id")
		out = append(out, f)
	}
	return out
}

func packRows(list []packedFill, chains bool) []byte {
	var b block
	for i := range list {
		b.add(&list[i].Fill, list[i].tx, list[i].other)
	}
	return append(b.pack(nil, chains), make([]byte, wordSize)...)
}

// Rows are read as they were written, also if the block is moved behind other hashes.
func TestABlockIsReadAsWritten(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		list := anyRows(rt)
		text := packRows(list, rapid.Bool().Draw(rt, "chains"))
		var b block
		b.unpack(segment{}, text, len(list))
		if diff := cmp.Diff(list, rowsOf(&b), cmp.AllowUnexported(packedFill{})); diff != "" {
			rt.Fatalf("-written +read:\n%s", diff)
		}
		if rapid.Bool().Draw(rt, "moved") {
			binary.LittleEndian.PutUint32(text, binary.LittleEndian.Uint32(text)+1000)
			b.unpack(segment{}, text, len(list))
			for i, f := range list {
				if got := b.tx[i]; got != moved(f.tx, 1000) {
					rt.Fatalf("row %d has hash %d, want %d", i, got, moved(f.tx, 1000))
				}
			}
		}
	})
}

// A block whose bytes are damaged is damage, or other rows: nothing outside of it is read.
func TestADamagedBlockIsDamage(t *testing.T) {
	s := made(t, 100)
	defer func() { _ = s.Close() }()
	r := segment{s.Contents().Files.Last()}
	refused := func(text []byte, n int) bool {
		err := segments.Try(func() error {
			var b block
			b.unpack(r, text, n)
			if i := slices.IndexFunc(b.other[:n], func(id int32) bool { return id < 0 || id > maxID }); i >= 0 {
				t.Errorf("an id of %d", b.other[i])
			}
			return nil
		})
		if d := (*segments.Damage)(nil); err != nil && !errors.As(err, &d) {
			t.Error(err)
		}
		return err != nil
	}
	rapid.Check(t, func(rt *rapid.T) {
		list := anyRows(rt)
		text := packRows(list, true)
		if refused(text, len(list)) {
			rt.Fatal("the undamaged block is refused")
		}
		n := len(text) - wordSize
		if cut := text[rapid.IntRange(0, n-1).Draw(rt, "cut"):]; !refused(text[:len(text)-len(cut)], len(list)) {
			rt.Fatal("a block that was cut is read")
		}
		if !refused(text, 0) || !refused(text, blockRows+1) {
			rt.Fatal("a block of 0 or 65 rows is read")
		}
		for range 20 {
			spoilt := slices.Clone(text)
			spoilt[rapid.IntRange(0, n-1).Draw(rt, "byte")] ^= 1 << rapid.IntRange(0, 7).Draw(rt, "bit")
			refused(spoilt, rapid.IntRange(1, blockRows).Draw(rt, "rows"))
		}
		refused(rapid.SliceOfN(rapid.Byte(), 0, 200).Draw(rt, "bytes"), rapid.IntRange(-1, blockRows+1).Draw(rt, "rows"))
	})
	wide := make([]byte, 100)
	wide[8], wide[9], wide[10] = 0xff, 0xff, 0xff // times of 127 bits
	if !refused(wide, 3) {
		t.Error("numbers of more than 64 bits are read")
	}
}
