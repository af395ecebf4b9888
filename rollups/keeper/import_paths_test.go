package keeper

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// A folder that cannot be read is found with its error, and what is beside it is found, too. One that
// was named is an error.
func TestAFolderThatCannotBeReadIsFound(t *testing.T) {
	root := t.TempDir()
	at := func(name string) string { return filepath.Join(root, name) }
	for _, name := range []string{"a/b.csv", "c/d.csv", "e/f.csv"} {
		if err := errors.Join(os.MkdirAll(filepath.Dir(at(name)), 0o700), os.WriteFile(at(name), nil, 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	closed := at("c")
	w := folderWalk{seen: map[string]bool{}, read: func(path string) ([]os.DirEntry, error) {
		if path == closed {
			return nil, fs.ErrPermission
		}
		return os.ReadDir(path)
	}}
	err := w.folder(root)
	want := []foundFile{{path: at("a/b.csv"), inFolder: true}, {path: closed, inFolder: true, err: fs.ErrPermission}, {path: at("e/f.csv"), inFolder: true}}
	if err != nil || !slices.Equal(w.files, want) {
		t.Errorf("%v, %v", w.files, err)
	}
	if err := w.folder(closed); err != nil { // it was seen
		t.Error(err)
	}
	w.seen = map[string]bool{}
	if err := w.folder(closed); !errors.Is(err, fs.ErrPermission) {
		t.Error(err)
	}
}

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
			want = append(want, foundFile{path: at(root + "/" + name), inFolder: true})
		}
		return want
	}
	for path, want := range map[string][]foundFile{
		"venue": below("venue"), "link": below("link"), "link/": below("link"), "li*": below("link"),
		"venue/b.csv": {{path: at("venue/b.csv")}}, "venue/*.csv": {{path: at("venue/.e.csv")}, {path: at("venue/b.csv")}},
	} {
		got, err := expandPath(root + "/" + path)
		if diff := cmp.Diff(want, got, cmp.AllowUnexported(foundFile{})); err != nil || diff != "" {
			t.Errorf("%s: %v\n%s", path, err, diff)
		}
	}
}
