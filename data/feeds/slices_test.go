package feeds_test

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"pmx/data"
	"pmx/data/feeds"

	"pmx/data/testfiles"
)

// TestEverySliceSaysWhatItHolds: testdata/feeds/slices has small files of every feed, in the exact
// shape of its source. Each is detected by its content and gives the rows listed in
// testdata/golden/slices. The test fails for a feed without such a file.
func TestEverySliceSaysWhatItHolds(t *testing.T) {
	for _, feed := range feeds.All() {
		names := slicesOf(t, feed.Name)
		if len(names) == 0 {
			t.Errorf("%s has no file below testdata/feeds/slices", feed.Name)
		}
		for _, name := range names {
			t.Run(feed.Name+"/"+name, func(t *testing.T) {
				path := testfiles.Path("feeds", "slices", feed.Name, name)
				h, err := feeds.ReadHead(path)
				if err != nil {
					t.Fatal(err)
				}
				knows(t, feed, h)
				c, err := readAs(t, feed, h, path)
				if err != nil {
					t.Fatal(err)
				}
				want, err := os.ReadFile(testfiles.Path("golden", "slices", feed.Name, name+".txt"))
				if err != nil {
					t.Error(err)
				}
				if diff := cmp.Diff(strings.Split(string(want), "\n"), strings.Split(c.said(), "\n")); diff != "" {
					t.Errorf("(-want +got):\n%s", diff)
				}
			})
		}
	}
}

// knows checks that h is detected as a file of feed, or as one of several feeds including it.
func knows(t *testing.T, feed data.Feed, h data.Head) {
	t.Helper()
	found, err := feeds.Detect(h)
	var several *feeds.AmbiguousError
	switch {
	case errors.As(err, &several):
		if !slices.Contains(several.Names, feed.Name) {
			t.Errorf("it could be of any of %v", several.Names)
		}
	case err != nil:
		t.Error(err)
	case found.Name != feed.Name:
		t.Errorf("it is detected as %s", found.Name)
	}
}

// slicesOf returns the names of the small files of a feed.
func slicesOf(t *testing.T, feed string) []string {
	t.Helper()
	entries, err := os.ReadDir(testfiles.Path("feeds", "slices", feed))
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		t.Fatal(err)
	}
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names
}

// TestSlicesAndTheirTextsBelongTogether: every folder of files belongs to a feed, and every text to
// a file.
func TestSlicesAndTheirTextsBelongTogether(t *testing.T) {
	folders, err := os.ReadDir(testfiles.Path("feeds", "slices"))
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range folders {
		if !slices.Contains(feeds.Names(), f.Name()) {
			t.Errorf("no feed is named %s", f.Name())
		}
	}
	texts, err := filepath.Glob(testfiles.Path("golden", "slices", "*", "*.txt"))
	if err != nil {
		t.Fatal(err)
	}
	for _, text := range texts {
		feed, name := filepath.Base(filepath.Dir(text)), strings.TrimSuffix(filepath.Base(text), ".txt")
		if !slices.Contains(slicesOf(t, feed), name) {
			t.Errorf("%s/%s has a text and no file", feed, name)
		}
	}
}
