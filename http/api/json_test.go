package api

import (
	"encoding/json"
	"strings"
	"testing"
)

// TestTextsAreJSON: encoding/json decodes any byte anywhere in a text unchanged, and invalid UTF-8
// as U+FFFD.
func TestTextsAreJSON(t *testing.T) {
	for length := range 34 {
		for at := range length {
			for c := range 256 {
				text := []byte(strings.Repeat("x", length))
				text[at] = byte(c)
				want := strings.ToValidUTF8(string(text), "\ufffd")
				var got string
				if err := json.Unmarshal(appendString(nil, string(text)), &got); err != nil || got != want {
					t.Fatalf("%q became %q, %v", text, got, err)
				}
			}
		}
	}
	for _, text := range []string{"", "é", "Größe 100 % „in Anführung“", strings.Repeat("日本語", 9), "ends with é"} {
		var got string
		if err := json.Unmarshal(appendString(nil, text), &got); err != nil || got != strings.ToValidUTF8(text, "\ufffd") {
			t.Errorf("%q became %q, %v", text, got, err)
		}
	}
}

// The library writes texts of wire types like appendString: neither < > & nor line separators are
// escaped.
func TestTheLibraryWritesTextsAsAppendStringDoes(t *testing.T) {
	for _, text := range []string{"", "plain", `a "b" \ c`, "\u2028", "\u2029 \\u2028", `\u2028`, `\\u2029`, "\\\u2028\\\\\u2029", "<b> & 'c'", "é\n\t\r\b\f\x00\x1f\x7f", "\u2027\u202a", "\xff\\\xc3", "\ufffd", `\ufffd`} {
		if got, want := string(marshal([]string{text, text})), string(appendTexts(nil, []string{text, text})); got != want {
			t.Errorf("%q: got %s, want %s", text, got, want)
		}
	}
}
