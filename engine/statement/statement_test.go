package statement

import (
	"strings"
	"testing"
	"testing/fstest"
)

func TestPlacesOfAStatementAreFilledOnce(t *testing.T) {
	for _, text := range []string{"", "SELECT 1", "@a", "@a@b@ab", "x @a, @b; @@a @c @", "@ab @abc @a", "@b\n@a@"} {
		for _, pairs := range [][]string{nil, {"@a", "1"}, {"@a", "@b", "@b", "@a"}, {"@ab", "2", "@a", "1"}, {"@a", "1", "@ab", "2"}, {"@a", "", "@c", "@a"}} {
			if got, want := replaced(text, pairs), strings.NewReplacer(pairs...).Replace(text); got != want {
				t.Errorf("%q with %q: got %q, want %q", text, pairs, got, want)
			}
		}
	}
	s, err := Load(fstest.MapFS{"sql/a.sql": {Data: []byte("-- name: One\nSELECT @x;\n")}})
	if err != nil || s.Get("One", "@x", "1") != "SELECT 1" || s.Get("One", "SELECT", "FROM") != "FROM @x" {
		t.Error(err)
	}
	defer func() {
		if recover() == nil {
			t.Error("an old name without a new one is accepted")
		}
	}()
	s.Get("One", "@x")
}
