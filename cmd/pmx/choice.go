package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/alecthomas/kong"
)

// choice is the value of a flag with an enum that may be left out; "" if it is. Kong needs the
// empty value in the enum then, and would name it in its error.
type choice string

// Decode reads a value of the enum, or "".
func (c *choice) Decode(ctx *kong.DecodeContext) error {
	var text string
	if err := ctx.Scan.PopValueInto("string", &text); err != nil {
		return err
	}
	all := slices.DeleteFunc(ctx.Value.EnumSlice(), func(s string) bool { return s == "" })
	switch {
	case text == "" || slices.Contains(all, text):
		*c = choice(text)
		return nil
	case len(all) == 1:
		return fmt.Errorf("must be %s but got %q", all[0], text)
	}
	return fmt.Errorf("must be one of %s but got %q", strings.Join(all, ", "), text)
}
