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

// wholeFiles are small files of the feeds that read their rows in Go.
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

// facts returns the contents of a file as texts. They leave out the position of a row and
// everything that depends on other rows: the roles in a transaction and the order of outcomes.
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

// TestACutFileSaysNothingElse truncates files at every byte. A feed must give only facts that it
// also gives for the whole file, so that importing the whole file afterwards has the same result as
// importing it alone. Feeds that DuckDB reads are tested like this in engine/ingest.
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
			t.Errorf("%s (%s) gives no facts", name, f.Name)
		}
		step := testfiles.Cases(5, 1)
		for cut := len(name) % step; cut < len(content); cut += step {
			src := data.Source{Name: name, Format: h.Format, Cities: reference.Gazetteer()}
			part := &collect{}
			if f.Read(t.Context(), src, strings.NewReader(content[:cut]), part) != nil {
				continue // refused as a whole: nothing of it is imported
			}
			for fact, n := range part.facts() {
				if n > whole[fact] {
					t.Errorf("%s (%s) truncated at byte %d of %d, after %q, gives\n  %s", name, f.Name, cut, len(content),
						content[max(0, cut-30):cut], fact)
				}
			}
		}
	}
}
