package data

import "math/bits"

// MulDiv returns a×b÷c rounded half away from zero, computed in 128 bits. c must not be zero, and
// the result must fit in 63 bits: it saturates otherwise.
func MulDiv(a, b, c Micro) Micro {
	neg := (a < 0) != (b < 0) != (c < 0)
	hi, lo := bits.Mul64(abs(a), abs(b))
	den := abs(c)
	lo, carry := bits.Add64(lo, den/2, 0)
	hi += carry
	if hi >= den {
		return saturated(neg)
	}
	q, _ := bits.Div64(hi, lo, den)
	if q > 1<<63-1 {
		return saturated(neg)
	}
	if neg {
		return -Micro(q)
	}
	return Micro(q)
}

func abs(m Micro) uint64 {
	if m < 0 {
		return -uint64(m)
	}
	return uint64(m)
}

func saturated(neg bool) Micro {
	if neg {
		return -1<<63 + 1
	}
	return 1<<63 - 1
}
