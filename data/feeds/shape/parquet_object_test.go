package shape

import (
	"bytes"
	"encoding/json"
	"math"
	"math/big"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/parquet-go/parquet-go"

	"pmx/data/testfiles"
)

type parquetSub struct {
	A *string `parquet:"a,optional"`
	B int64   `parquet:"b"`
}

type parquetRow struct {
	Zeta   string       `parquet:"zeta"`
	Name   *string      `parquet:"name,optional"`
	Bytes  []byte       `parquet:"bytes"`
	Flag   *bool        `parquet:"flag,optional"`
	Number float64      `parquet:"number"`
	Small  int32        `parquet:"small"`
	At     time.Time    `parquet:"at,timestamp(microsecond)"`
	Words  []string     `parquet:"words,list"`
	Loose  []string     `parquet:"loose"`
	Inner  *parquetSub  `parquet:"inner,optional"`
	Many   []parquetSub `parquet:"many"`
	Odd    int64        `parquet:"a <b> \"c\" é"`
}

// objectOf is the definition of a row's object: json.Marshal of a map of its values.
func objectOf(t *testing.T, leaves []Leaf, row parquet.Row) []byte {
	obj := map[string]any{}
	for _, v := range row {
		leaf := leaves[v.Column()]
		if !leaf.repeated {
			obj[leaf.name] = leaf.Value(v)
			continue
		}
		list, _ := obj[leaf.name].([]any)
		switch {
		case v.DefinitionLevel() >= leaf.element:
			obj[leaf.name] = append(list, leaf.Value(v))
		case v.DefinitionLevel() == leaf.element-1:
			obj[leaf.name] = []any{}
		}
	}
	raw, err := json.Marshal(obj)
	if err != nil {
		t.Fatal(err)
	}
	return raw
}

// TestAParquetRowIsAnObject: rows are written as json.Marshal writes a map of their values.
func TestAParquetRowIsAnObject(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	text := func() string {
		parts := []string{"", "a", "Will it?", "\"", "\\", "<b>", "&", "\n", "\x01", "\x7f", "é", "\u2028", "日本", "\xff", "0x12", "null"}
		s := ""
		for range r.IntN(4) {
			s += parts[r.IntN(len(parts))]
		}
		return s
	}
	maybe := func() *string {
		if s := text(); r.IntN(3) > 0 {
			return &s
		}
		return nil
	}
	var rows []parquetRow
	for range testfiles.Cases(300, 20_000) {
		row := parquetRow{Zeta: text(), Name: maybe(), Bytes: []byte(text()), Number: r.NormFloat64(), Small: r.Int32(), Odd: r.Int64() - r.Int64(),
			At: time.UnixMicro(r.Int64N(2e15)).UTC()}
		if r.IntN(2) == 0 {
			yes := r.IntN(2) == 0
			row.Flag, row.Inner, row.Bytes = &yes, &parquetSub{maybe(), 7}, make([]byte, []int{20, 32, 5}[r.IntN(3)])
		}
		for range r.IntN(4) {
			row.Words, row.Loose, row.Many = append(row.Words, text()), append(row.Loose, text()), append(row.Many, parquetSub{maybe(), r.Int64()})
		}
		rows = append(rows, row)
	}
	var file bytes.Buffer
	w := parquet.NewGenericWriter[parquetRow](&file)
	if _, err := w.Write(rows); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	f, err := parquet.OpenFile(bytes.NewReader(file.Bytes()), int64(file.Len()))
	if err != nil {
		t.Fatal(err)
	}
	leaves, seen := leavesOf(f.Schema()), 0
	obj := newParquetObject(leaves)
	err = EachRow(f, func(n int64, row parquet.Row) error {
		seen++
		obj.empty()
		for _, v := range row {
			obj.add(v)
		}
		if got, want := obj.json(), objectOf(t, leaves, row); !bytes.Equal(got, want) {
			t.Errorf("row %d is %s, want %s", n, got, want)
		}
		return nil
	})
	if err != nil || seen != len(rows) {
		t.Fatal(err, seen)
	}
}

// TestPlainTextIsDecodedAsAnyOther: a text without escapes is taken as json.Unmarshal takes it.
func TestPlainTextIsDecodedAsAnyOther(t *testing.T) {
	for _, raw := range []string{`""`, `"a"`, `"é 日本"`, `"a\"b"`, `"\u00e9"`, `"\ud83d\ude00"`, "\"\xff\"", "\"a\nb\"", `"a"b"`, `"`, `"\\"`, `"a\`, "\"\x7f\"", "\"\u2028\""} {
		var want string
		wrong := json.Unmarshal([]byte(raw), &want)
		var got Text
		if err := got.UnmarshalJSON([]byte(raw)); (err == nil) != (wrong == nil) || err == nil && string(got) != want {
			t.Errorf("%q is %q, %v; json has %q, %v", raw, got, err, want, wrong)
		}
	}
}

// TestDecimalsAreExact: a number of 64 bits is formatted as a large one.
func TestDecimalsAreExact(t *testing.T) {
	for _, n := range []int64{0, 1, -1, 9, 10, -10, 99, 123456789, -123456789, 1e6, -1e6, math.MaxInt64, math.MinInt64} {
		for scale := -2; scale <= 38; scale++ {
			if got, want := decimal(n, scale), scaled(big.NewInt(n), scale); got != want {
				t.Errorf("%d with scale %d is %s, want %s", n, scale, got, want)
			}
		}
	}
}
