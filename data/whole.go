package data

import (
	"errors"
	"strconv"
	"strings"
)

// ErrWhole is returned for text that is not a whole number of 0 or more.
var ErrWhole = errors.New("not a whole number of 0 or more")

// ParseWhole parses digits, optionally with a fraction of zeros, because some tables have 1.0; no
// sign, exponent, underscore or other base.
func ParseWhole(s string) (int64, error) {
	digits, fraction, _ := strings.Cut(strings.TrimSpace(s), ".")
	if digits == "" || strings.Trim(digits, "0123456789") != "" || strings.Trim(fraction, "0") != "" {
		return 0, ErrWhole
	}
	n, err := strconv.ParseInt(digits, 10, 64)
	if err != nil {
		return 0, ErrWhole
	}
	return n, nil
}
