package data_test

import (
	"testing"

	"pmx/data"
)

func TestFormulasAreDefusedAndGivenBack(t *testing.T) {
	for text, want := range map[string]string{
		"": "", "plain": "plain", "a=b": "a=b", "'": "'", "'quoted'": "'quoted'", "’=1": "’=1",
		"=1": "'=1", "+1": "'+1", "-1": "'-1", "@x": "'@x", "\tx": "'\tx", "\rx": "'\rx", "\nx": "'\nx",
		"＝1": "'＝1", "＋1": "'＋1", "－1": "'－1", "＠x": "'＠x", "'=1": "''=1", "''＝1": "'''＝1",
	} {
		if got := data.EscapeFormula(text); got != want {
			t.Errorf("Defuse(%q) is %q, want %q", text, got, want)
		}
		if got := data.UnescapeFormula(data.EscapeFormula(text)); got != text {
			t.Errorf("%q comes back as %q", text, got)
		}
	}
}

func FuzzDefuse(f *testing.F) {
	f.Add("'=1")
	f.Add("\xff=")
	f.Fuzz(func(t *testing.T, text string) {
		if got := data.UnescapeFormula(data.EscapeFormula(text)); got != text {
			t.Errorf("%q comes back as %q", text, got)
		}
	})
}
