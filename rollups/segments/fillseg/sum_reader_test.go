package fillseg

import (
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"pmx/data"
	"pmx/rollups/serving"
)

// Keys ascend whatever the steps between them are, and one that is out of range is damage: readers rely on both.
func TestAKeyOutOfRangeIsDamage(t *testing.T) {
	s := made(t, 100)
	defer func() { _ = s.Close() }()
	r := segment{s.Contents().Files.Last()}
	for list, keys := range map[string]struct {
		steps *code
		most  int64
	}{"wallets": {walletSteps, maxID}, "tokens": {tokenSteps, maxID}, "days": {daySteps, maxTime}, "hours": {hourSteps, maxTime}} {
		read := func(steps []int64) (last uint64, damaged bool) {
			var w sumWriter
			for _, step := range steps {
				w.number(keys.steps, step)
			}
			in := sumReader{segment: r, b: w.end()}
			damaged = isDamage(t, list, func() {
				for range steps {
					last = in.key(keys.steps, uint64(keys.most))
				}
			})
			return last, damaged
		}
		for name, steps := range map[string][]int64{
			"one out of range":         {keys.most + 1},
			"the second out of range":  {5, keys.most - 5},
			"a huge step":              {5, math.MaxInt64},
			"a step back":              {5, -1},
			"a huge step back":         {5, math.MinInt64},
			"another behind the last":  {keys.most, 0},
			"a huge one behind it":     {keys.most, math.MaxInt64},
			"a step back from the end": {keys.most, -1},
		} {
			if last, damaged := read(steps); !damaged {
				t.Errorf("%s: %s: the last key is %d", list, name, last)
			}
		}
		if last, damaged := read([]int64{0, 0, 5, keys.most - 8}); damaged || last != uint64(keys.most) {
			t.Errorf("%s: the last key is %d, damage: %v", list, last, damaged)
		}
	}
}

// Token sums are read as they were written, whatever the amounts, and also where dollars are a price times shares.
func TestTokenSumsAreReadAsWritten(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		var wallets []serving.WalletSum
		var hours []serving.PartialCandle
		for i := range rapid.IntRange(0, 10).Draw(rt, "sums") {
			bought, sold := anyShares(rt)
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

// anyFills is often one of the numbers that shapes have few bits for, or about as large.
func anyFills(rt *rapid.T) int64 {
	return rapid.OneOf(rapid.Int64Range(1, 40), rapid.Int64Range(1, 2_000), rapid.Int64Range(1, math.MaxInt64)).Draw(rt, "fills")
}

// anyShares are shares that were bought and sold, often as many.
func anyShares(rt *rapid.T) (bought, sold data.Micro) {
	bought, sold = anyAmount(rt, "bought"), anyAmount(rt, "sold")
	if rapid.Bool().Draw(rt, "sold all") {
		sold = bought
	}
	return bought, sold
}

// anyDollars is an amount, or what shares cost at some price.
func anyDollars(rt *rapid.T, shares data.Micro) data.Micro {
	unit := rapid.SampledFrom([]data.Micro{0, 100, 1_000, 10_000}).Draw(rt, "unit of the price")
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
