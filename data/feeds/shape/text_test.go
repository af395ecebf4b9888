package shape

import (
	"encoding/json"
	"slices"
	"testing"
)

// FuzzPlainArray: the arrays that PlainArray reads are read as encoding/json reads them.
func FuzzPlainArray(f *testing.F) {
	for _, text := range []string{
		`[]`, `[""]`, `["",""]`, `["Yes","No"]`, `["é","°F"]`, `["a"]`, `["a",]`, `[,"a"]`, `[,]`, `["a""b"]`, `["a" ,"b"]`, `[ "a"]`,
		`["a]`, `["]`, `[a"]`, `["a","b]`, `["a\"","b"]`, `["\u00e9"]`, `[1,"a"]`, `[null]`, `[["a"]]`, `["a"]]`, "[\"a\tb\"]", "[\"a\xff\"]", `["a`, `[`, ``, `"a"`, `null`,
	} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		got := PlainArray([]byte(text))
		if got == nil {
			return
		}
		var want []string
		if err := json.Unmarshal([]byte(text), &want); err != nil {
			t.Fatalf("%q is read as %q: %v", text, got, err)
		}
		if !slices.Equal(got, want) {
			t.Fatalf("%q is read as %q, want %q", text, got, want)
		}
	})
}

// TestArraysOfStringsArePlain: what pmx writes is read without encoding/json.
func TestArraysOfStringsArePlain(t *testing.T) {
	for text, want := range map[string]List{`[]`: {}, `["Yes"]`: {"Yes"}, `["Yes","No, thanks"]`: {"Yes", "No, thanks"}, `["64°F",""]`: {"64°F", ""}} {
		if got := PlainArray([]byte(text)); got == nil || !slices.Equal(got, want) {
			t.Errorf("%s is read as %q, want %q", text, got, want)
		}
	}
}
