package export_test

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

// The catalogue describes the facts that are written, in the same order.
func TestCatalogueHasAllFacts(t *testing.T) {
	var names []string
	for _, f := range datasets.Facts() {
		names = append(names, f.ID)
	}
	if !slices.Equal(names, export.Facts) {
		t.Errorf("facts %v are described, %v are written", names, export.Facts)
	}
}
