// Package data has the canonical rows that every feed is turned into, the value types that all
// other packages use, and the reference tables. It imports no other package of the project and
// needs no C compiler.
package data

import (
	"encoding/hex"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
)

// Address is a wallet address: 20 bytes, written 0x + 40 lower-case hex digits.
type Address [20]byte

// Hash is a 32-byte chain value: a condition id or a transaction hash, written
// 0x + 64 lower-case hex digits. The zero Hash means "none".
type Hash [32]byte

// ErrHex is returned for a hexadecimal value of the wrong length or alphabet.
var ErrHex = errors.New("not a hexadecimal value of the right length")

// ParseAddress reads 0x + 40 hex digits in any letter case, with or without the 0x.
func ParseAddress(s string) (Address, error) {
	var a Address
	if err := parseHex(a[:], s); err != nil {
		return Address{}, fmt.Errorf("address %q: %w", s, err)
	}
	return a, nil
}

// ParseHash reads 0x + 64 hex digits in any letter case, with or without the 0x.
func ParseHash(s string) (Hash, error) {
	var h Hash
	if err := parseHex(h[:], s); err != nil {
		return Hash{}, fmt.Errorf("hash %q: %w", s, err)
	}
	return h, nil
}

// ParseCondition reads a condition id: 0x + 64 hex digits in any letter case, with or without the
// 0x. On chain the ids of protocol V2 are 31 bytes, which contracts and indexers print as 62
// digits: these stand for the 64 digits that end in 00.
func ParseCondition(s string) (Hash, error) {
	var h Hash
	if parseHex(h[:31], s) == nil {
		return h, nil
	}
	if err := parseHex(h[:], s); err != nil {
		return Hash{}, fmt.Errorf("condition id %q: %w", s, err)
	}
	return h, nil
}

func parseHex(dst []byte, s string) error {
	if len(s) >= 2 && s[0] == '0' && (s[1] == 'x' || s[1] == 'X') {
		s = s[2:]
	}
	if len(s) != 2*len(dst) {
		return ErrHex
	}
	if _, err := hex.Decode(dst, []byte(s)); err != nil {
		return ErrHex
	}
	return nil
}

// String returns 0x + 40 lower-case hex digits.
func (a Address) String() string { return string(a.Append(nil)) }

// Append adds the text of a to b.
func (a Address) Append(b []byte) []byte { return hex.AppendEncode(append(b, "0x"...), a[:]) }

// IsZero reports whether a is the zero address.
func (a Address) IsZero() bool { return a == Address{} }

// String returns 0x + 64 lower-case hex digits.
func (h Hash) String() string { return string(h.Append(nil)) }

// Append adds the text of h to b.
func (h Hash) Append(b []byte) []byte { return hex.AppendEncode(append(b, "0x"...), h[:]) }

// IsZero reports whether h is the zero hash, which stands for "none".
func (h Hash) IsZero() bool { return h == Hash{} }

// Micro is an exact amount in millionths: of a US dollar for money, of one token for sizes, of one
// for payouts and ratios. All sums of money and sizes use these integers, so they do not depend on
// the order of addition.
type Micro int64

// One is 1 in millionths.
const One Micro = 1_000_000

// ErrMicro is returned for text that is not a decimal number within range.
var ErrMicro = errors.New("not a decimal number within ±9.2e12")

// ParseMicro reads a decimal number ("12.5", "3e-04", "-7") and rounds it, half
// away from zero, to six places.
func ParseMicro(s string) (Micro, error) {
	if m, ok := parsePlain(s); ok {
		return m, nil
	}
	f, err := strconv.ParseFloat(strings.TrimSpace(s), 64)
	if err != nil {
		return 0, fmt.Errorf("%q: %w", s, ErrMicro)
	}
	return MicroOf(f)
}

// parsePlain parses digits with at most six decimals without using a float.
func parsePlain(s string) (Micro, bool) {
	digits, neg := strings.CutPrefix(s, "-")
	whole, frac, _ := strings.Cut(digits, ".")
	if whole == "" || len(whole) > 12 || len(frac) > 6 {
		return 0, false
	}
	n := int64(0)
	for _, part := range [2]string{whole, frac + "000000"[len(frac):]} {
		for i := 0; i < len(part); i++ {
			c := part[i]
			if c < '0' || c > '9' {
				return 0, false
			}
			n = n*10 + int64(c-'0')
		}
	}
	if neg {
		n = -n
	}
	return Micro(n), true
}

// MicroOf rounds f to six places, half away from zero; ErrMicro outside the range.
func MicroOf(f float64) (Micro, error) {
	v := math.Round(f * 1e6)
	if math.IsNaN(v) || v >= math.MaxInt64 || v <= math.MinInt64 {
		return 0, ErrMicro
	}
	return Micro(v), nil
}

// Append adds the shortest exact decimal text of m to b: 1.5, -0.000001, 12.
func (m Micro) Append(b []byte) []byte {
	u := uint64(m)
	if m < 0 {
		b = append(b, '-')
		u = -u
	}
	b = strconv.AppendUint(b, u/1_000_000, 10)
	frac := u % 1_000_000
	if frac == 0 {
		return b
	}
	b = append(b, '.')
	for div := uint64(100_000); frac > 0; div /= 10 {
		b = append(b, byte('0'+frac/div))
		frac %= div
	}
	return b
}

// String returns the shortest exact decimal text of m.
func (m Micro) String() string { return string(m.Append(nil)) }

// MarshalJSON writes m as an exact JSON number with at most six decimals.
func (m Micro) MarshalJSON() ([]byte, error) { return m.Append(nil), nil }

// UnmarshalJSON reads a JSON number with at most six decimals exactly.
func (m *Micro) UnmarshalJSON(b []byte) error {
	v, err := ParseMicro(string(b))
	if err != nil {
		return err
	}
	*m = v
	return nil
}

// Float returns m in whole units, rounded to the nearest float64; for display and for the typed
// columns of exports, never for arithmetic.
func (m Micro) Float() float64 { return float64(m) / 1e6 }

// Ratio returns num/den as a Micro, rounded half away from zero, and false when den is zero.
func Ratio(num, den Micro) (Micro, bool) {
	if den == 0 {
		return 0, false
	}
	return MulDiv(num, One, den), true
}
