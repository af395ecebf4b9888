package datasets_test

import (
	"testing"

	"pmx/data/datasets"
)

func TestCatalogueIsWhole(t *testing.T) {
	for _, d := range datasets.All() {
		if d.Title == "" || d.Description == "" || d.Order == "" || d.Method == "" || len(d.Formats) != 2 || len(d.Periods) != 1 {
			t.Errorf("%s: %+v", d.ID, d)
		}
		for _, c := range d.Columns {
			isNumber := c.Type == datasets.Integer || c.Type == datasets.Decimal || c.Type == datasets.Decimals
			if c.Meaning == "" || (c.Unit != "") != (isNumber || c.Type == datasets.Timestamp) {
				t.Errorf("%s.%s: %+v", d.ID, c.Name, c)
			}
		}
	}
	if _, ok := datasets.Find("nothing"); ok {
		t.Error("a dataset that does not exist was found")
	}
}

func TestFactsAreDescribed(t *testing.T) {
	for _, f := range datasets.Facts() {
		seen := map[string]bool{}
		for _, c := range f.Columns {
			if c.Meaning == "" || c.Type == "" || seen[c.Name] || (c.Unit == datasets.UTC) != (c.Type == datasets.Timestamp) {
				t.Errorf("%s.%s: %+v", f.ID, c.Name, c)
			}
			seen[c.Name] = true
		}
	}
}
