package datasets_test

import (
	"slices"
	"testing"

	"pmx/data/datasets"
	"pmx/engine/export"
)

// The catalogue has the columns of the files, in the same order.
func TestCatalogueDescribesTheFiles(t *testing.T) {
	for name, columns := range export.Columns() {
		d, ok := datasets.Find(name)
		if !ok {
			t.Errorf("dataset %s is written but not in the catalogue", name)
			continue
		}
		var described []string
		for _, c := range d.Columns {
			described = append(described, c.Name)
		}
		if !slices.Equal(columns, described) {
			t.Errorf("dataset %s\nfile:      %v\ncatalogue: %v", name, columns, described)
		}
	}
	if export.MaxRows != datasets.MaxRows {
		t.Errorf("files have at most %d rows, the catalogue says %d", export.MaxRows, datasets.MaxRows)
	}
}

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

// The catalogue of facts has the columns of their files, in the same order.
func TestFactsAreDescribed(t *testing.T) {
	var names []string
	for _, f := range datasets.Facts() {
		names = append(names, f.ID)
		seen := map[string]bool{}
		for _, c := range f.Columns {
			if c.Meaning == "" || c.Type == "" || seen[c.Name] || (c.Unit == datasets.UTC) != (c.Type == datasets.Timestamp) {
				t.Errorf("%s.%s: %+v", f.ID, c.Name, c)
			}
			seen[c.Name] = true
		}
	}
	if !slices.Equal(names, export.Facts) {
		t.Errorf("facts %v are described, %v are written", names, export.Facts)
	}
}
