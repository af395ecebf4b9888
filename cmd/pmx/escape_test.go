package main

import (
	"bytes"
	"strings"
	"testing"
)

// What users wrote about themselves cannot control the terminal that lists it.
func TestListsPrintNoControlCharacters(t *testing.T) {
	keepUmask(t)
	dir := t.TempDir()
	var all bytes.Buffer
	for _, args := range [][]string{
		{"keys", "issue", "--tier", "trader", "--label", "a\x1b[31mb\nc"}, {"keys", "list"},
	} {
		var out, errs bytes.Buffer
		if status := run(append(args, "--data-dir", dir), stdio{in: strings.NewReader(""), out: &out, err: &errs}); status != 0 {
			t.Fatalf("%v: status %d, %s", args, status, errs.String())
		}
		all.Write(out.Bytes())
	}
	if text := all.String(); strings.Contains(text, "\x1b") || strings.Count(text, `a\x1b[31mb\x0ac`) != 2 {
		t.Errorf("text = %q", text)
	}
}
