package engine

import (
	"strings"
	"testing"
	"unicode/utf8"
)

func TestShortName(t *testing.T) {
	long := strings.Repeat("x", 300)
	for _, c := range []struct{ name, prefix, suffix string }{
		{"fills.csv", "fills.csv", ""},
		{strings.Repeat("x", maxName), strings.Repeat("x", maxName), ""},
		{long + ".csv", "xxxx", ".csv"},
		{long + ".csv.gz", "xxxx", ".csv.gz"},
		{strings.Repeat("ü", 120) + ".ndjson", "üüüü", ".ndjson"},
		{"a." + long, "a.xx", ""},
	} {
		got := ShortName(c.name)
		if len(got) > maxName || !utf8.ValidString(got) || !strings.HasPrefix(got, c.prefix) || !strings.HasSuffix(got, c.suffix) {
			t.Errorf("%s becomes %s", c.name, got)
		}
	}
	if ShortName(long+"a.csv") == ShortName(long+"b.csv") {
		t.Error("two long names become one")
	}
}
