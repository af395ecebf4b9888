package fillseg

import (
	"encoding/binary"
	"errors"
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"pmx/data"
	"pmx/rollups/segments"
	"pmx/rollups/serving"
)

// Numbers of any length are read as they were written, also the last ones of an extent.
func TestNumbersOfSumsAreReadAsWritten(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var b []byte
		numbers := make([]uint64, rapid.IntRange(0, 20).Draw(t, "numbers"))
		for i := range numbers {
			numbers[i] = rapid.Uint64().Draw(t, "number") >> rapid.IntRange(0, 63).Draw(t, "shift")
			b = binary.AppendUvarint(b, numbers[i])
		}
		b = binary.AppendVarint(b, math.MinInt64)
		in := sumReader{b: b}
		for i, want := range numbers {
			if got := in.unsigned(); got != want {
				t.Fatalf("number %d is %d, want %d", i, got, want)
			}
		}
		if got := in.amount(); got != data.Micro(math.MinInt64) || len(in.b) > 0 {
			t.Fatalf("the last amount is %d; %d bytes follow", got, len(in.b))
		}
	})
}

// Sums whose keys do not ascend, or are out of range, are damage: readers rely on their order.
func TestSumsOutOfOrderAreDamage(t *testing.T) {
	s := busyTokens(t, 60, 1, 0)
	st := s.Contents()
	r := segment{st.Files.List()[0]}
	wallet := func(b []byte, step uint64) []byte {
		b = append(binary.AppendUvarint(b, step), 2, 0b11111) // fills, and which amounts follow
		return append(b, 8, 8, 8, 8, 8)
	}
	for name, b := range map[string][]byte{
		"the same wallet twice": wallet(wallet(nil, 5), 0),
		"a wallet out of range": wallet(wallet(nil, 5), maxID),
		"a huge step":           wallet(wallet(nil, 5), math.MaxUint64-4),
		"an end in a number":    wallet(nil, 5)[:6],
		"an endless number":     append(wallet(nil, 5), 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff),
	} {
		err := segments.Try(func() error { r.readWallets(nil, b); return nil })
		if d := (*segments.Damage)(nil); !errors.As(err, &d) {
			t.Errorf("%s: %v", name, err)
		}
		err = segments.Try(func() error { r.readHours(nil, 1, append(binary.AppendUvarint(nil, math.MaxUint64), b...)); return nil })
		if d := (*segments.Damage)(nil); !errors.As(err, &d) {
			t.Errorf("hours, %s: %v", name, err)
		}
	}
}

// Token sums are read as they were written, whatever the amounts.
func TestTokenSumsAreReadAsWritten(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		var wallets []serving.WalletSum
		var hours []serving.PartialCandle
		for i := range rapid.IntRange(0, 10).Draw(rt, "sums") {
			bought := anyAmount(rt, "bought")
			wallets = append(wallets, serving.WalletSum{Wallet: data.WalletID(i * maxID / 10), EventSum: serving.EventSum{Fills: rapid.Int64Range(1, math.MaxInt64).Draw(rt, "fills"),
				BuyShares: bought, Net: bought + anyAmount(rt, "sold"), BuyUSD: anyAmount(rt, "paid"), SellUSD: anyAmount(rt, "received"), FeeUSD: anyAmount(rt, "fee")}})
			hours = append(hours, serving.PartialCandle{Token: 7, Hour: int64(i * maxTime / 10), Fills: 2, USD: anyAmount(rt, "dollars"), Shares: anyAmount(rt, "shares"),
				First: serving.NoPlace, Last: serving.NoPlace})
		}
		if got := (segment{}).readWallets(nil, appendWallets(nil, wallets)); !slices.Equal(got, wallets) {
			rt.Errorf("by wallet: got %+v, want %+v", got, wallets)
		}
		if got := (segment{}).readHours(nil, 7, appendHours(nil, hours)); !slices.Equal(got, hours) {
			rt.Errorf("by hour: got %+v, want %+v", got, hours)
		}
	})
}
