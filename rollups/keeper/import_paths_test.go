package keeper

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// Folders behind symbolic links are imported too, each once, wherever the links lead.
func TestFoldersBehindLinksAreWalked(t *testing.T) {
	root := t.TempDir()
	at := func(name string) string { return filepath.Join(root, name) }
	for _, dir := range []string{"venue/deep", "venue/.hidden", "else"} {
		if err := os.MkdirAll(at(dir), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	for _, file := range []string{"venue/b.csv", "venue/deep/c.csv", "venue/.hidden/d.csv", "venue/.e.csv", "else/f.csv"} {
		if err := os.WriteFile(at(file), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for from, to := range map[string]string{"link": "venue", "venue/deep/up": "..", "venue/deep/self": ".", "venue/x": "../else",
		"else/back": "../venue", "venue/gone": "nowhere", "venue/ring": "ring"} {
		if err := os.Symlink(to, at(from)); err != nil {
			t.Fatal(err)
		}
	}
	below := func(root string) []foundFile {
		var want []foundFile
		for _, name := range strings.Fields("b.csv deep/c.csv gone ring x/f.csv") {
			want = append(want, foundFile{at(root + "/" + name), true})
		}
		return want
	}
	for path, want := range map[string][]foundFile{
		"venue": below("venue"), "link": below("link"), "link/": below("link"), "li*": below("link"),
		"venue/b.csv": {{at("venue/b.csv"), false}}, "venue/*.csv": {{at("venue/.e.csv"), false}, {at("venue/b.csv"), false}},
	} {
		got, err := expandPath(root + "/" + path)
		if diff := cmp.Diff(want, got, cmp.AllowUnexported(foundFile{})); err != nil || diff != "" {
			t.Errorf("%s: %v\n%s", path, err, diff)
		}
	}
}
