package feeds_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"pmx/data"
	"pmx/data/reference"

	"pmx/data/testfiles"
)

// wholeFiles are small files of the feeds that read their rows themselves.
func wholeFiles(t *testing.T) map[string]string {
	t.Helper()
	dir := testfiles.Path("feeds", "whole")
	entries, err := os.ReadDir(dir)
	if err != nil || len(entries) < 20 {
		t.Fatalf("%d files: %v", len(entries), err)
	}
	out := map[string]string{}
	for _, e := range entries {
		content, err := os.ReadFile(filepath.Join(dir, e.Name()))
		if err != nil {
			t.Fatal(err)
		}
		out[e.Name()] = string(content)
	}
	return out
}

// facts are what a file says, each as a text. Where a row stood does not count, nor
// what depends on the other rows: the roles of a transaction, the order of outcomes.
func (c *collect) facts() map[string]int {
	out := map[string]int{}
	add := func(kind string, v any) { out[fmt.Sprintf("%s %+v", kind, v)]++ }
	for _, f := range c.fills {
		f.Row, f.Role, f.Outcome = 0, 0, 0
		add("fill", f)
	}
	for _, m := range c.markets {
		if m.Slug == "ohio-senate" {
			m.Outcomes, m.TokenIDs = nil, nil
		}
		m.Resolution = nil
		add("market", m)
	}
	for _, r := range c.resolutions {
		add("resolution", r)
	}
	for _, t := range c.tokens {
		add("token", t)
	}
	for _, b := range c.blocks {
		add("block", b)
	}
	for _, f := range c.forecasts {
		add("forecast", f)
	}
	for _, a := range c.actuals {
		a.Provisional = nil // a pointer
		add("actual", a)
	}
	for _, o := range c.observations {
		o.Whole = nil
		add("observation", o)
	}
	for _, n := range c.normals {
		n.Deviation, n.P10, n.P90 = nil, nil, nil
		add("normal", n)
	}
	return out
}

// TestACutFileSaysNothingElse: of a file that was cut at any byte, a feed gives
// nothing that it does not give of the whole one, so that the whole one after it
// comes to the same as alone. Feeds that DuckDB reads have this test beside the import.
func TestACutFileSaysNothingElse(t *testing.T) {
	for name, content := range wholeFiles(t) {
		path := text(t, name, content)
		h, f := head(t, path)
		if f.Query != nil {
			continue
		}
		c, err := readAs(t, f, h, path)
		if err != nil || len(c.rejects) > 0 {
			t.Errorf("%s (%s): %v %v", name, f.Name, err, c.rejects)
		}
		whole := c.facts()
		if len(whole) == 0 {
			t.Errorf("%s (%s) says nothing", name, f.Name)
		}
		for cut := range len(content) {
			src := data.Source{Name: name, Format: h.Format, Cities: reference.Gazetteer()}
			part := &collect{}
			if f.Read(t.Context(), src, strings.NewReader(content[:cut]), part) != nil {
				continue // refused whole: nothing of it stays
			}
			for fact, n := range part.facts() {
				if n > whole[fact] {
					t.Errorf("%s (%s) cut at byte %d of %d, behind %q, says\n  %s", name, f.Name, cut, len(content),
						content[max(0, cut-30):cut], fact)
				}
			}
		}
	}
}
