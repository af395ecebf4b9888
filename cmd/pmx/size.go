package main

import (
	"fmt"

	"github.com/dustin/go-humanize"
)

// byteSize is a number of bytes, written as 20GB, 500 MB or 1.5TiB.
type byteSize int64

// UnmarshalText parses a size. A number without a unit is refused: it is probably a mistake.
func (s *byteSize) UnmarshalText(text []byte) error {
	n, err := humanize.ParseBytes(string(text))
	if err != nil || n < 1_000_000 || n > 1<<60 {
		return fmt.Errorf("%q is not a size: give a number and its unit, such as 20GB or 500MB, at least 1MB", text)
	}
	*s = byteSize(n)
	return nil
}

// String returns the size in the format of a flag.
func (s byteSize) String() string {
	for _, unit := range []struct {
		name string
		size byteSize
	}{{"GB", 1e9}, {"MB", 1e6}, {"kB", 1e3}} {
		if s%unit.size == 0 {
			return fmt.Sprintf("%d%s", int64(s/unit.size), unit.name)
		}
	}
	return fmt.Sprintf("%dB", int64(s))
}
