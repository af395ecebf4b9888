package data_test

import (
	"strings"
	"testing"

	"pmx/data"
)

// TestCondition: all forms of a condition id are equal, and nothing else is one.
func TestCondition(t *testing.T) {
	long := strings.Repeat("aB", 31)
	want := "0x" + strings.Repeat("ab", 31) + "00"
	for _, s := range []string{"0x" + long, "0X" + long, long, "0x" + long + "00", long + "00", strings.ToUpper(long)} {
		h, err := data.ParseCondition(s)
		if err != nil || h.String() != want {
			t.Errorf("%s: %s, %v, want %s", s, h, err, want)
		}
	}
	for _, s := range []string{"", "0x", "0x" + long[1:], "0x" + long + "0", "0x" + long + "0000", "0x" + long[:60], long[:61] + "g"} {
		if h, err := data.ParseCondition(s); err == nil {
			t.Errorf("%q is read as %s", s, h)
		}
	}
	if h, err := data.ParseHash("0x" + long); err == nil {
		t.Errorf("a transaction hash of 62 digits is read as %s", h)
	}
}
