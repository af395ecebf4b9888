package index

import (
	"math"
	"math/big"

	"pmx/data"
)

// composite is the geometric mean of the indices that have a value, each at least
// 1, by their weights, rounded to a millionth.
func composite(v *Values) data.Micro {
	weights, logs := 0, 0.0
	for n := Volume; n < Names; n++ {
		if v[n] != None {
			weights += n.Weight()
			logs += float64(n.Weight()) * math.Log(float64(max(v[n], lowest)))
		}
	}
	if weights == 0 {
		return None
	}
	guess := math.Exp(logs / float64(weights))
	whole := math.Floor(guess)
	// The guess is good to some 15 digits of at most 10: the root has to be compared exactly only
	// if it is close to a half.
	if math.Abs(guess-whole-0.5) > 1e-3 {
		return data.Micro(math.Round(guess))
	}
	if above(v, weights, int64(2*whole+1)) {
		return data.Micro(whole) + 1
	}
	return data.Micro(whole)
}

// above reports whether the root of the weighted product is above half of twice: 2^w × Π
// value^weight > twice^w. The two are never equal, because the left side is even and twice is odd.
func above(v *Values, weights int, twice int64) bool {
	product := new(big.Int).Lsh(big.NewInt(1), uint(weights))
	for n := Volume; n < Names; n++ {
		if v[n] != None {
			part := big.NewInt(int64(max(v[n], lowest)))
			product.Mul(product, part.Exp(part, big.NewInt(int64(n.Weight())), nil))
		}
	}
	bound := big.NewInt(twice)
	return product.Cmp(bound.Exp(bound, big.NewInt(int64(weights)), nil)) > 0
}
