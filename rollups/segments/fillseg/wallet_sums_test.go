package fillseg

import (
	"encoding/binary"
	"errors"
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"pmx/data"
	"pmx/rollups/segments"
	"pmx/rollups/serving"
)

// anyAmount draws amounts of every size, with and without zeros at their end.
func anyAmount(t *rapid.T, name string) data.Micro {
	if edge := rapid.SampledFrom([]int64{0, 0, 1, -1, math.MaxInt64, math.MinInt64, maxAmount, maxAmount - 1, -maxAmount, 1 - maxAmount}).Draw(t, name); edge != 0 {
		return data.Micro(edge)
	}
	unit := rapid.SampledFrom([]int64{1, 10, 100, 10_000, 1_000_000}).Draw(t, name+" unit")
	return data.Micro((rapid.Int64().Draw(t, name+" amount") >> rapid.IntRange(20, 63).Draw(t, name+" shift")) * unit)
}

// Sums of a wallet are read as they were written, whatever the amounts.
func TestSumsOfAWalletAreReadAsWritten(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		tokens := make([]serving.TokenSum, rapid.IntRange(0, 20).Draw(rt, "tokens"))
		days := make([]serving.DaySum, rapid.IntRange(0, 20).Draw(rt, "days"))
		token, day := int64(-1), int64(-1)
		for i := range tokens {
			token += rapid.Int64Range(1, maxID/20).Draw(rt, "step")
			unit := rapid.SampledFrom([]int64{1, second}).Draw(rt, "unit")
			first := epoch*second + rapid.Int64Range(0, maxTime*second/unit).Draw(rt, "first")*unit
			tokens[i] = serving.TokenSum{Token: data.TokenID(token), Fills: rapid.Int64Range(1, math.MaxInt64).Draw(rt, "fills"),
				BuyShares: anyAmount(rt, "bought"), SellShares: anyAmount(rt, "sold"), FeeShares: anyAmount(rt, "fee"), BuyUSD: anyAmount(rt, "paid"),
				SellUSD: anyAmount(rt, "received"), FeeUSD: anyAmount(rt, "fee in dollars"), FirstTS: first,
				LastTS: first + rapid.Int64Range(0, maxTime*second/unit).Draw(rt, "length")*unit}
		}
		for i := range days {
			day += rapid.Int64Range(1, 100_000).Draw(rt, "step")
			days[i] = serving.DaySum{Day: int32(day), Fills: rapid.Int64Range(1, math.MaxInt64).Draw(rt, "fills"), BuyUSD: anyAmount(rt, "paid"),
				SellUSD: anyAmount(rt, "received"), FeeUSD: anyAmount(rt, "fee in dollars")}
		}
		in := sumReader{b: appendTokens(nil, tokens)}
		if got := in.allTokens([]serving.TokenSum{}); !cmp.Equal(got, tokens) {
			rt.Errorf("sums by token (-written +read):\n%s", cmp.Diff(tokens, got))
		}
		in = sumReader{b: appendDays(nil, days)}
		for i := range days {
			var got serving.DaySum
			if in.day(&got); got != days[i] {
				rt.Errorf("sum of a day is %+v, want %+v", got, days[i])
			}
		}
		if len(in.b) > 0 {
			rt.Errorf("%d bytes follow the days", len(in.b))
		}
	})
}

// Sums of a wallet that end too early or are not in order are damage, and whatever the bytes are, nothing else.
func TestSumsOfAWalletThatCannotBeAreDamage(t *testing.T) {
	s := made(t, 100)
	defer func() { _ = s.Close() }()
	r := segment{s.Contents().Files.Last()}
	read := func(b []byte) error {
		return segments.Try(func() error {
			in := sumReader{segment: r, b: b}
			in.allTokens(nil)
			return nil
		})
	}
	readDays := func(b []byte) error {
		return segments.Try(func() error {
			var day serving.DaySum
			for in := (sumReader{segment: r, b: b}); len(in.b) > 0; {
				in.day(&day)
			}
			return nil
		})
	}
	sum := func(b []byte, step uint64) []byte {
		b = append(binary.AppendUvarint(b, step), 1, 1, 8) // one amount
		return append(b, 1, 1)
	}
	for name, b := range map[string][]byte{
		"the same token twice": sum(sum(nil, 5), 0),
		"a token out of range": sum(sum(nil, 5), maxID),
		"a huge step":          sum(sum(nil, 5), math.MaxUint64-4),
		"an end before flags":  sum(nil, 5)[:2],
		"an end in an amount":  sum(nil, 5)[:3],
		"an end before a time": sum(nil, 5)[:5],
		"an amount alone":      append(sum(nil, 5)[:3], byte(amountAlone)),
	} {
		if d := (*segments.Damage)(nil); !errors.As(read(b), &d) {
			t.Errorf("%s: no damage", name)
		}
	}
	if err := read(sum(sum(nil, 0), 5)); err != nil {
		t.Errorf("sums in order: %v", err)
	}
	if d := (*segments.Damage)(nil); !errors.As(readDays([]byte{1, 1, 0, 0, 1, 0}), &d) {
		t.Error("the same day twice: no damage")
	}
	rapid.Check(t, func(rt *rapid.T) {
		b := rapid.SliceOfN(rapid.Byte(), 0, 100).Draw(rt, "bytes")
		for _, err := range []error{read(b), readDays(b)} {
			if d := (*segments.Damage)(nil); err != nil && !errors.As(err, &d) {
				rt.Error(err)
			}
		}
	})
}
