package main

import (
	"fmt"
	"reflect"
	"strconv"
	"strings"
	"time"

	"github.com/alecthomas/kong"
)

// days parses a duration, which may begin with days: 90d, 1d12h, 30m.
func days(text string) (time.Duration, error) {
	number, rest, ok := strings.Cut(text, "d")
	if !ok {
		return time.ParseDuration(text)
	}
	n, err := strconv.ParseUint(number, 10, 16)
	if err != nil {
		return 0, err
	}
	d := time.Duration(n) * 24 * time.Hour
	if rest == "" {
		return d, nil
	}
	more, err := time.ParseDuration(rest)
	return d + more, err
}

// decodeDuration reads the value of a flag that is a duration.
func decodeDuration(ctx *kong.DecodeContext, target reflect.Value) error {
	var text string
	if err := ctx.Scan.PopValueInto("duration", &text); err != nil {
		return err
	}
	d, err := days(text)
	if err != nil {
		return fmt.Errorf("%q is not a duration: give one such as 7d, 12h or 90s", text)
	}
	target.SetInt(int64(d))
	return nil
}
