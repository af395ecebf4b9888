package data_test

import (
	"strings"
	"testing"

	"pmx/data"
)

func TestLineEndsAreEscapedAndGivenBack(t *testing.T) {
	for text, want := range map[string]string{
		"": "", "plain": "plain", `a\nb`: `a\nb`, "=1": "'=1", "\tx": "'\tx",
		"a\nb": `'\a\nb`, "a\r\nb": `'\a\r\nb`, "\n": `'\\n`, "a\\\nb": `'\a\b\nb`, "=1\n": `'\=1\n`, `'\x`: `'\'\bx`, `''\x`: `''\x`,
	} {
		if got := data.EscapeCell(text); got != want {
			t.Errorf("EscapeCell(%q) is %q, want %q", text, got, want)
		}
		if got := data.UnescapeCell(data.EscapeCell(text)); got != text {
			t.Errorf("%q comes back as %q", text, got)
		}
	}
}

func FuzzCell(f *testing.F) {
	f.Add("'=1")
	f.Add("'\\b\n\\n\\")
	f.Fuzz(func(t *testing.T, text string) {
		cell := data.EscapeCell(text)
		if got := data.UnescapeCell(cell); got != text || strings.ContainsAny(cell, "\r\n") {
			t.Errorf("%q is written as %q and comes back as %q", text, cell, got)
		}
	})
}
