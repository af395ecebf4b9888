package fillseg

import (
	"errors"
	"math"
	"testing"

	"pgregory.net/rapid"

	"pmx/data"
	"pmx/rollups/segments"
	"pmx/rollups/serving"
)

// everyCode are all codes of the files.
var everyCode = map[string]*code{"counts": counts, "amounts": amounts, "dollars": dollars, "shapes": shapes, "hours": hourShapes, "tokenSteps": tokenSteps,
	"daySteps": daySteps, "walletSteps": walletSteps, "hourSteps": hourSteps, "firstTimes": firstTimes, "lengths": lengths, "inHour": inHour, "indexes": indexes,
	"prices": prices, "beyond": beyond}

// eachGroup calls f with every group of every code.
func eachGroup(f func(name string, c *code, kind uint8, g *group)) {
	for name, c := range everyCode {
		for kind := range c.kinds {
			for i := range c.kinds[kind] {
				f(name, c, uint8(kind), &c.kinds[kind][i])
			}
		}
	}
}

// The first and the last number of each class are written with the bits of the class, and read with its kind.
func TestNumbersAtTheEndsOfClasses(t *testing.T) {
	eachGroup(func(name string, c *code, kind uint8, g *group) {
		for _, p := range g.classes {
			ends := []int64{int64(p.from) * g.unit, int64(p.end-1) * g.unit}
			if g.any {
				ends = []int64{math.MinInt64, math.MaxInt64}
			}
			for _, v := range ends {
				var w bitWriter
				if !c.put(&w, kind, v) {
					t.Fatalf("%s, kind %d: %d is in no class", name, kind, v)
				}
				length := uint(len(w.b)*8) + w.n
				if length > p.prefix+p.width { // fewer: it is in a class of another unit, too
					t.Errorf("%s: %d takes %d bits, more than %d", name, v, length, p.prefix+p.width)
				}
				r := sumReader{b: w.end()}
				if got, of := r.number(c); got != v || of != kind || r.at != length {
					t.Errorf("%s, kind %d: %d is read as %d of kind %d, %d bits of %d", name, kind, v, got, of, r.at, length)
				}
			}
		}
	})
}

// Any numbers are read as they were written, in all codes: one kind of each has all numbers.
func TestNumbersAreReadAsWritten(t *testing.T) {
	all := map[string]uint8{}
	eachGroup(func(name string, _ *code, kind uint8, g *group) {
		if g.any {
			all[name] = kind
		}
	})
	for name, c := range everyCode {
		kind, ok := all[name]
		if !ok {
			t.Fatalf("%s has no class of all numbers", name)
		}
		rapid.Check(t, func(rt *rapid.T) {
			var w bitWriter
			numbers := make([]int64, rapid.IntRange(0, 20).Draw(rt, "numbers"))
			for i := range numbers {
				numbers[i] = rapid.Int64().Draw(rt, "number") >> rapid.IntRange(0, 63).Draw(rt, "shift")
				if rapid.Bool().Draw(rt, "in units") {
					numbers[i] *= rapid.SampledFrom(c.kinds[kind]).Draw(rt, "group").unit
				}
			}
			numbers = append(numbers, math.MinInt64)
			for _, v := range numbers {
				c.put(&w, kind, v)
			}
			r := sumReader{b: w.end()}
			for i, want := range numbers {
				if got, of := r.number(c); got != want || of != kind {
					rt.Fatalf("%s: number %d is %d of kind %d, want %d of kind %d", name, i, got, of, want, kind)
				}
			}
			if int(r.at+7)/8 != len(r.b) {
				rt.Errorf("%s: %d bits are read of %d bytes", name, r.at, len(r.b))
			}
		})
	}
}

// A number is in no class of a kind that is too small for it.
func TestAKindOfAFewNumbers(t *testing.T) {
	c := newCode(class{0, 1, 2, 10}, class{1, 1, anyNumber, 1})
	for v, want := range map[int64]bool{0: true, 30: true, 40: false, 5: false, -10: false, math.MinInt64: false, math.MaxInt64: false} {
		var w bitWriter
		if got := c.put(&w, 0, v); got != want || got != (w.n > 0) {
			t.Errorf("%d: %v, want %v; %d bits are written", v, got, want, w.n)
		}
	}
}

// Classes that leave bits which are no prefix cannot be a code, nor can those that need more prefixes than there are.
func TestPrefixesOfACode(t *testing.T) {
	for name, classes := range map[string][]class{
		"bits without a class": {{0, 1, 3, 1}, {0, 2, anyNumber, 1}},
		"too many classes":     {{0, 1, 3, 1}, {0, 1, 4, 1}, {0, 2, anyNumber, 1}},
		"a wide class":         {{0, 1, widest + 1, 1}, {0, 1, anyNumber, 1}},
		"wide classes":         {{0, 2, widest, 1}, {0, 2, 0, 1}, {0, 1, anyNumber, 1}},
		"a long prefix":        {{0, 1, 3, 1}, {0, 1, anyNumber, 1}, {0, longestPrefix + 1, 3, 1}},
	} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%s: it is a code", name)
				}
			}()
			newCode(classes...)
		}()
	}
}

// The smallest sums take a byte each, on which the reader relies for how many a list may have.
func TestASumTakesAByteAtLeast(t *testing.T) {
	const n = 1000
	tokens, days, wallets, hours := make([]serving.TokenSum, n), make([]serving.DaySum, n), make([]serving.WalletSum, n), make([]serving.PartialCandle, n)
	for _, fills := range []int64{1, 2, 3} {
		for _, amount := range []data.Micro{0, 10_000} {
			for i := range n {
				traded := serving.EventSum{Fills: fills, Net: amount, BuyShares: amount}
				tokens[i] = serving.TokenSum{Token: data.TokenID(i), Fills: fills, BuyShares: amount, FirstTS: epoch * second, LastTS: epoch * second}
				days[i] = serving.DaySum{Day: int32(i), Fills: fills, BuyUSD: amount}
				wallets[i] = serving.WalletSum{Wallet: data.WalletID(i), EventSum: traded}
				hours[i] = serving.PartialCandle{Hour: int64(i), Fills: fills, Shares: amount, First: serving.NoPlace, Last: serving.NoPlace}
				if amount > 0 {
					hours[i].First.TS = int64(i) * hourLength
					hours[i].Last = hours[i].First
				}
			}
			for name, b := range map[string][]byte{"tokens": appendTokens(nil, tokens), "days": appendDays(nil, days), "wallets": appendWallets(nil, wallets), "hours": appendHours(nil, hours)} {
				if len(b) < n {
					t.Errorf("%d %s with %d fills of %d: %d bytes", n, name, fills, amount, len(b))
				}
			}
		}
	}
}

// isDamage reports whether reading ends in damage; anything else but an end is an error.
func isDamage(t interface{ Errorf(string, ...any) }, name string, read func()) (damaged bool) {
	err := segments.Try(func() error { read(); return nil })
	if d := (*segments.Damage)(nil); err != nil && !errors.As(err, &d) {
		t.Errorf("%s: %v", name, err)
	}
	return err != nil
}

// readers read lists of each kind of sums.
func readers(r segment) map[string]func(b []byte) {
	return map[string]func(b []byte){
		"tokens": func(b []byte) {
			in := r.readTokens(b)
			in.allTokens(nil)
		},
		"days": func(b []byte) {
			for in := r.readSums(b); in.left > 0; {
				in.day(new(serving.DaySum))
			}
		},
		"wallets": func(b []byte) { r.readWallets(nil, b) },
		"hours":   func(b []byte) { r.readHours(nil, 1, b) },
	}
}

// Whatever the bytes of sums are, reading them is nothing worse than damage.
func TestAnyBytesOfSumsAreReadOrDamage(t *testing.T) {
	s := made(t, 100)
	defer func() { _ = s.Close() }()
	all := readers(segment{s.Contents().Files.Last()})
	rapid.Check(t, func(rt *rapid.T) {
		b := rapid.SliceOfN(rapid.Byte(), 0, 200).Draw(rt, "bytes")
		if len(b) > 0 && rapid.Bool().Draw(rt, "few sums") {
			b[0] &^= 3
		}
		for name, read := range all {
			isDamage(rt, name, func() { read(b) })
		}
	})
}

// A list that is cut off, or followed by other bytes, is damage, as is one of more sums than it can have.
func TestAListOfOtherLengthIsDamage(t *testing.T) {
	s := made(t, 100)
	defer func() { _ = s.Close() }()
	all := readers(segment{s.Contents().Files.Last()})
	for name, b := range map[string][]byte{
		"tokens":  appendTokens(nil, []serving.TokenSum{{Token: 5, Fills: 2, BuyShares: 7e6, BuyUSD: 3e6, FirstTS: epoch * second, LastTS: epoch * second}, {Token: 9, Fills: 1}}),
		"days":    appendDays(nil, []serving.DaySum{{Day: 20_000, Fills: 300, BuyUSD: 5_000_000}, {Day: 20_001, Fills: 1}}),
		"wallets": appendWallets(nil, []serving.WalletSum{{Wallet: 5, EventSum: serving.EventSum{Fills: 1, Net: 7e6, BuyShares: 7e6, BuyUSD: 3e6}}, {Wallet: 70}}),
		"hours":   appendHours(nil, []serving.PartialCandle{{Hour: 400_000, Fills: 1, Shares: 7e6, USD: 3e6, First: serving.CandlePlace{TS: 400_000 * hourLength, At: 428_571}}, {Hour: 400_010}}),
	} {
		if isDamage(t, name, func() { all[name](b) }) {
			t.Errorf("%s: a whole list is damage", name)
		}
		for n := 1; n < len(b); n++ {
			if !isDamage(t, name, func() { all[name](b[:n]) }) {
				t.Errorf("%s: %d bytes of %d are read", name, n, len(b))
			}
		}
		if !isDamage(t, name, func() { all[name](append(b[:len(b):len(b)], 0)) }) {
			t.Errorf("%s: a byte more is read", name)
		}
		w := writeSums(nil, len(b)+1)
		if !isDamage(t, name, func() { all[name](append(w.end(), b...)) }) {
			t.Errorf("%s: %d sums are read", name, len(b)+1)
		}
	}
}
