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
		b = append(binary.AppendUvarint(b, step), 2<<fillsAt|0b11111) // how many fills, and which amounts follow
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

// Token sums are read as they were written, whatever the amounts, and also where dollars are a price times shares.
func TestTokenSumsAreReadAsWritten(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		var wallets []serving.WalletSum
		var hours []serving.PartialCandle
		for i := range rapid.IntRange(0, 10).Draw(rt, "sums") {
			bought, sold := anyAmount(rt, "bought"), anyAmount(rt, "sold")
			wallets = append(wallets, serving.WalletSum{Wallet: data.WalletID(i * maxID / 10), EventSum: serving.EventSum{Fills: anyFills(rt),
				BuyShares: bought, Net: bought - sold, BuyUSD: anyDollars(rt, bought), SellUSD: anyDollars(rt, sold), FeeUSD: anyAmount(rt, "fee")}})
			hours = append(hours, anyHour(rt, int64(i*maxTime/10)))
		}
		if got := (segment{}).readWallets(nil, appendWallets(nil, wallets)); !slices.Equal(got, wallets) {
			rt.Errorf("by wallet: got %+v, want %+v", got, wallets)
		}
		if got := (segment{}).readHours(nil, 7, appendHours(nil, hours)); !slices.Equal(got, hours) {
			rt.Errorf("by hour: got %+v, want %+v", got, hours)
		}
	})
}

// anyFills is often one of the numbers that the byte of flags has room for, or the one above.
func anyFills(rt *rapid.T) int64 {
	return rapid.OneOf(rapid.Int64Range(1, fewFills+1), rapid.Int64Range(1, math.MaxInt64)).Draw(rt, "fills")
}

// anyDollars is an amount, or what shares cost at some price.
func anyDollars(rt *rapid.T, shares data.Micro) data.Micro {
	unit := rapid.SampledFrom([]data.Micro{0, 100, 10_000}).Draw(rt, "unit of the price")
	if unit == 0 || shares < 0 || shares >= maxOfPrices {
		return anyAmount(rt, "dollars")
	}
	price := data.Micro(rapid.Int64Range(0, int64(unit)+1).Draw(rt, "price"))
	return shares*price/unit + data.Micro(rapid.IntRange(0, 2).Draw(rt, "millionths more"))
}

// anyHour is a partial candle, as fills of an hour may add up to.
func anyHour(rt *rapid.T, hour int64) serving.PartialCandle {
	p := serving.PartialCandle{Token: 7, Hour: hour, Fills: anyFills(rt), Shares: anyAmount(rt, "shares"), First: serving.NoPlace, Last: serving.NoPlace}
	if rapid.Bool().Draw(rt, "no trade of any tokens") {
		p.USD = anyAmount(rt, "dollars")
		return p
	}
	unit := rapid.SampledFrom([]int64{1, second}).Draw(rt, "unit of time")
	price := func(name string) int64 {
		of := rapid.SampledFrom([]int64{1, 100, 10_000}).Draw(rt, "unit of the price")
		return of * rapid.Int64Range(0, int64(data.One)/of).Draw(rt, name)
	}
	log := rapid.SampledFrom([]int64{0, math.MaxInt32}).Draw(rt, "last log")
	place := func(from int64, name string) serving.CandlePlace {
		ts := from + unit*rapid.Int64Range(0, ((hour+1)*hourLength-1-from)/unit).Draw(rt, name)
		return serving.CandlePlace{TS: ts, At: rapid.Int64Range(0, log+1).Draw(rt, "log")<<indexAt + price("price")}
	}
	p.First = place(hour*hourLength, "first")
	p.Last, p.Low = p.First, p.First.Price()
	if p.Fills > 1 {
		p.Last = place(p.First.TS, "last")
		p.Low = data.Micro(price("low"))
	}
	p.Low = min(p.Low, p.First.Price(), p.Last.Price())
	p.High = max(p.First.Price(), p.Last.Price())
	if p.Fills > 1 {
		p.High = max(p.High, data.Micro(price("high")))
	}
	p.USD = anyAmount(rt, "dollars")
	if p.Shares >= 0 && p.Shares < maxOfPrices && rapid.Bool().Draw(rt, "at one price") {
		p.USD = p.Shares*p.First.Price()/data.One + data.Micro(rapid.IntRange(-1, 2).Draw(rt, "millionths more"))
	}
	return p
}
