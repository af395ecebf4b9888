package sample

import (
	"encoding/binary"
	"math"
	"math/bits"
)

const golden = 0x9e3779b97f4a7c15

// rng is SplitMix64 (Steele, Lea, Flood 2014, doi 10.1145/2660193.2660195): one word of state and
// integer arithmetic only.
type rng struct{ state uint64 }

func mix(z uint64) uint64 {
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}

func (r *rng) next() uint64 {
	r.state += golden
	return mix(r.state)
}

// below returns a number in [0, n); n must be positive.
func (r *rng) below(n int) int {
	hi, _ := bits.Mul64(r.next(), uint64(n))
	return int(hi)
}

func (r *rng) below64(n uint64) uint64 {
	hi, _ := bits.Mul64(r.next(), n)
	return hi
}

// chance returns true in n of 1000 cases.
func (r *rng) chance(n int) bool { return r.below(1000) < n }

// normal returns a number of mean 0 and variance 1: the sum of four uniform 16-bit numbers. It
// needs no logarithm, so it is the same on every machine.
func (r *rng) normal() float64 {
	v := r.next()
	sum := int64(v&0xffff) + int64(v>>16&0xffff) + int64(v>>32&0xffff) + int64(v>>48)
	const deviation = 37837.2 // √(4·65536²/12)
	return float64(sum-131070) / deviation
}

// zipf returns a number in [0, n) whose probability falls like 1/(number+first): first a power of
// two is drawn uniformly, then a number in its range.
func (r *rng) zipf(n, first int) int {
	low := bits.Len(uint(first)) - 1
	high := bits.Len(uint(n+first)) - 1
	for {
		octave := low + r.below(high-low+1)
		v := 1<<octave + r.below(1<<octave) - first
		if v >= 0 && v < n {
			return v
		}
	}
}

// Purposes of streams of random words. The streams of a seed are independent.
const (
	streamPlan = iota + 1
	streamTrades
	streamWallet
	streamTx
	streamCondition
	streamToken
	streamNegRisk
	streamArrival
	streamTraits
	streamQuestion
	streamWeather
	streamOthers // and above
)

// word returns the i-th word of element n of a stream. It keeps no state, so access is random.
func word(seed uint64, stream, n, i uint64) uint64 {
	return mix(mix(mix(seed+stream*golden)+n*golden) + (i+1)*golden)
}

// fill overwrites dst with the words of element n of a stream.
func fill(dst []byte, seed uint64, stream, n uint64) {
	var b [8]byte
	for i := uint64(0); len(dst) > 0; i++ {
		binary.BigEndian.PutUint64(b[:], word(seed, stream, n, i))
		dst = dst[copy(dst, b[:]):]
	}
}

// The normal distribution as a table of millionths in steps of 1/128 over [-normalSpan,
// normalSpan]. Rounding to integers hides the differences in the last digit that math.Erfc has
// between processors.
const (
	normalSpan  = 5
	normalSteps = 128
)

type normalTable [2*normalSpan*normalSteps + 1]int64

func newNormalTable() *normalTable {
	t := new(normalTable)
	for i := range t {
		z := float64(i)/normalSteps - normalSpan
		t[i] = int64(math.Round(1e6 * math.Erfc(-z/math.Sqrt2) / 2))
	}
	return t
}

// at returns Φ(z) in millionths.
func (t *normalTable) at(z float64) int64 {
	i := int(math.Round(float64((z + normalSpan) * normalSteps)))
	return t[min(max(i, 0), len(t)-1)]
}

// inverse returns the first z of the table with Φ(z) of at least p millionths.
func (t *normalTable) inverse(p int64) float64 {
	lo, hi := 0, len(t)-1
	for lo < hi {
		mid := (lo + hi) / 2
		if t[mid] < p {
			lo = mid + 1
		} else {
			hi = mid
		}
	}
	return float64(lo)/normalSteps - normalSpan
}

// draw returns a normally distributed number, half a step between the entries of the table.
func (t *normalTable) draw(r *rng) float64 {
	return t.inverse(int64(r.below(1_000_000))) - 0.5/normalSteps
}
