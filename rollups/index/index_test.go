package index

import (
	"math/big"
	"testing"
	"time"

	"pgregory.net/rapid"

	"pmx/data"
)

const usd = data.One

// volume is a bucket in which takers traded dollars, all in one known market.
func volume(bucket int32, dollars data.Micro) Change {
	return Change{Bucket: bucket, Flow: Flow{Fills: 1, Taker: dollars, Mapped: dollars, First: dollars}}
}

// days returns the volume of a day in each of n windows of 24 hours before the last one at bucket
// at, and last in that one.
func days(at int32, n int32, each, last data.Micro) History {
	var h History
	changes := []Change{volume(at, last)}
	for i := int32(1); i <= n; i++ {
		changes = append(changes, volume(at-i*DayBuckets, each))
	}
	h.Apply(changes)
	return h
}

func TestAFillCountsUpToItsInstant(t *testing.T) {
	noon := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC).UnixMicro()
	five := Step.Microseconds()
	for _, c := range []struct {
		ts   int64
		want int64 // the bucket's instant
	}{{noon, noon}, {noon + 1, noon + five}, {noon + five, noon + five}, {noon - 1, noon}} {
		if got := Time(BucketOf(c.ts)); got != c.want {
			t.Errorf("a fill at noon%+d µs counts at noon%+d µs, want noon%+d µs", c.ts-noon, got-noon, c.want-noon)
		}
	}
	// The last snapshot up to a time.
	if At(noon) != BucketOf(noon) || At(noon-1) != At(noon)-1 || At(noon+five-1) != At(noon) {
		t.Error("At is not the last instant")
	}
}

func TestSevenOfThirtyWindowsMustHoldData(t *testing.T) {
	const at = 6_000_000
	// 7 windows of 50 before, 100 in the last: 100 × 100 ÷ 50 = 200.
	seven := days(at, 7, 50*usd, 100*usd)
	in := seven.Inputs(at)
	if v := in.Values(); in.Windows != 7 || v[Volume] != 200*usd {
		t.Errorf("seven windows: %d, %s", in.Windows, v[Volume])
	}
	six := days(at, 6, 50*usd, 100*usd)
	in = six.Inputs(at)
	if v := in.Values(); v[Volume] != None || in.Reason(Volume) != FewWindows {
		t.Errorf("six windows: %s, %s", v[Volume], in.Reason(Volume))
	}
	// The 31st window before is not one of the thirty.
	many := days(at, 31, 50*usd, 100*usd)
	if in = many.Inputs(at); in.Windows != 30 || in.Base.Taker != 1500*usd {
		t.Errorf("31 windows: %d, %s", in.Windows, in.Base.Taker)
	}
	// Windows without a fill count neither as data nor in the mean.
	var h History
	changes := []Change{volume(at, 30*usd)}
	for i := int32(1); i <= 28; i += 3 { // 10 of 30
		changes = append(changes, volume(at-i*DayBuckets, 60*usd))
	}
	h.Apply(changes)
	if in = h.Inputs(at); in.Windows != 10 || in.Values()[Volume] != 50*usd {
		t.Errorf("gaps: %d windows, %s", in.Windows, in.Values()[Volume])
	}
}

func TestWindowsBeginAfterTheirStart(t *testing.T) {
	const at = 6_000_000
	var h History
	h.Apply([]Change{volume(at-DayBuckets, 1*usd), volume(at-DayBuckets+1, 10*usd), volume(at, 100*usd), volume(at+1, 1000*usd),
		volume(at-Reach+1, 7*usd), volume(at-Reach, 70*usd)})
	in := h.Inputs(at)
	if in.Last.Taker != 110*usd || in.Base.Taker != 8*usd || in.Windows != 2 {
		t.Errorf("last %s, base %s in %d windows; want 110, 8 in 2", in.Last.Taker, in.Base.Taker, in.Windows)
	}
}

func TestValuesByHand(t *testing.T) {
	in := Inputs{Windows: 10,
		Last: Flow{Fills: 1, Taker: 300 * usd, Whale: 90 * usd, Politics: 7 * usd, Crypto: 0, First: 50 * usd, Mapped: 300 * usd},
		Base: Flow{Fills: 10, Taker: 1000 * usd, Whale: 30 * usd, Politics: 0, Crypto: 5 * usd, First: 1, Mapped: 1}}
	v := in.Values()
	// Volume 100 × 300 ÷ (1000 ÷ 10) = 300. Whale 100 × 90 ÷ 3 = 3000, clipped to 1000. Politics has no norm.
	// Crypto 0. Sentiment 200 × 50 ÷ 300 = 33.333333.
	want := Values{0, 300 * usd, 1000 * usd, None, 0, 33_333_333}
	// Composite, crypto floored at 1 and politics left out, weights 3, 2, 2, 1 of 8:
	// (300³ × 1000² × 1² × 33.333333)^⅛ = (27e6 × 1e6 × 33.333333)^⅛ = (8.9999999e14)^⅛ = 74.007…
	want[Composite] = v[Composite]
	if v != want {
		t.Errorf("got %v, want %v", v, want)
	}
	if v[Composite] < 74_006_000 || v[Composite] > 74_009_000 {
		t.Errorf("composite %s", v[Composite])
	}
	if in.Reason(Politics) != EmptyBase || in.Reason(Composite) != "" {
		t.Errorf("reasons: %q, %q", in.Reason(Politics), in.Reason(Composite))
	}
	var none Inputs
	if v := none.Values(); v != (Values{None, None, None, None, None, None}) || none.Reason(Composite) != NoComponents || none.Reason(Sentiment) != NoMarkets {
		t.Errorf("nothing: %v", v)
	}
	all := Inputs{Windows: 30, Last: Flow{Taker: usd, Whale: usd, Politics: usd, Crypto: usd, First: usd, Mapped: 2 * usd},
		Base: Flow{Taker: 30 * usd, Whale: 30 * usd, Politics: 30 * usd, Crypto: 30 * usd}}
	for n, v := range all.Values() {
		if v != 100*usd {
			t.Errorf("%s of a usual day is %s, want 100", Name(n), v)
		}
	}
}

// The composite is nearer to the exact root than any other millionth.
func TestCompositeIsTheRoundedRoot(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		var v Values
		weights := 0
		product := big.NewInt(1)
		for n := Volume; n < Names; n++ {
			v[n] = data.Micro(rapid.Int64Range(-1, int64(highest)).Draw(rt, n.String()))
			if v[n] != None {
				weights += n.Weight()
				for range n.Weight() {
					product.Mul(product, big.NewInt(int64(max(v[n], lowest))))
				}
			}
		}
		c := composite(&v)
		if weights == 0 {
			if c != None {
				rt.Fatalf("composite of nothing is %s", c)
			}
			return
		}
		power := func(n int64) *big.Int { return new(big.Int).Exp(big.NewInt(n), big.NewInt(int64(weights)), nil) }
		twice := product.Lsh(product, uint(weights)) // (2 × root)^weights
		if power(2*int64(c)-1).Cmp(twice) >= 0 || power(2*int64(c)+1).Cmp(twice) <= 0 {
			rt.Fatalf("%s is not the root of %v", c, v)
		}
	})
}

// Near a half, the estimate does not decide: 1.5 millionths above 1, squared, is 1.000003000002…,
// and the values around it are compared exactly.
func TestRootsNextToAHalfAreComparedExactly(t *testing.T) {
	// Whale and politics have the same weight: the root of a × b. The root of 2.000001 × 2 is
	// 2.0000004999…, which is rounded down although as a floating-point number it hardly differs
	// from 2.0000005.
	v := Values{None, None, 2_000_001, 2_000_000, None, None}
	if c := composite(&v); c != 2_000_000 {
		t.Errorf("%s, want 2", c)
	}
	if !above(&Values{None, None, 2_000_001, 2_000_001, None, None}, 4, 4_000_001) || above(&v, 4, 4_000_001) {
		t.Error("above does not compare the roots")
	}
}

// Buckets may be added in any order and in any portions.
func TestHistoryDoesNotDependOnOrder(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		n := rapid.IntRange(1, 30).Draw(rt, "changes")
		var all []Change
		naive := map[int32]Flow{}
		for range n {
			c := Change{Bucket: 5_000_000 + rapid.Int32Range(0, 20).Draw(rt, "bucket")*97, Flow: Flow{
				Fills: rapid.Int64Range(-1, 3).Draw(rt, "fills"), Taker: data.Micro(rapid.Int64Range(-50, 100).Draw(rt, "usd"))}}
			all = append(all, c)
			naive[c.Bucket] = naive[c.Bucket].plus(c.Flow)
		}
		var h History
		for len(all) > 0 {
			k := rapid.IntRange(1, len(all)).Draw(rt, "portion")
			h.Apply(append([]Change(nil), all[:k]...))
			all = all[k:]
		}
		at := 5_000_000 + rapid.Int32Range(-10, 20*97+Reach).Draw(rt, "at")
		in := h.Inputs(at)
		var want Inputs
		windows := [BaseWindows + 1]int64{}
		for b, f := range naive {
			if b > at || b <= at-Reach {
				continue
			}
			w := (at - b) / DayBuckets
			windows[w] += f.Fills
			if w == 0 {
				want.Last = want.Last.plus(f)
			} else {
				want.Base = want.Base.plus(f)
			}
		}
		for _, fills := range windows[1:] {
			if fills != 0 {
				want.Windows++
			}
		}
		if in != want {
			rt.Fatalf("at %d: in = %+v, want %+v", at, in, want)
		}
	})
}

func TestBars(t *testing.T) {
	b := NoBars()
	for _, v := range []data.Micro{None, 5, 9, None, 2, 7} {
		b.Add(&Values{v, None})
	}
	if b[Composite] != (Bar{5, 9, 2, 7}) || b[Sentiment] != (Bar{0, 0, 0, 0}) {
		t.Errorf("%v", b)
	}
	joined := NoBar()
	joined.Join(NoBar())
	joined.Join(Bar{5, 9, 2, 7})
	joined.Join(NoBar())
	joined.Join(Bar{1, 1, 1, 1})
	if joined != (Bar{5, 9, 1, 1}) {
		t.Errorf("joined %v", joined)
	}
}
