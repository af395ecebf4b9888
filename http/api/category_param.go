package api

import (
	"slices"
	"strings"

	"pmx/data/reference"
)

// categoryDoc says which categories a parameter takes.
var categoryDoc = "; case-insensitive. The categories are " + reference.CategoryList() +
	", and any other that a market of the venue has; an unknown category is an error, which lists the known ones"

func categoryParam() *Param {
	return &Param{Name: "category", Kind: Text, Min: 1, Max: 100, Many: filterNames,
		Doc: "markets of this category; if repeated, of any of them" + categoryDoc}
}

// categories lists the categories of w's markets that a parameter selects, nil if it is not given.
// A category that only the fixed table has is returned as it is.
func (call *Call) categories(p *Param, w *marketEpoch) ([]string, *problem) {
	asked := call.texts(p)
	if asked == nil {
		return nil, nil
	}
	all := append(w.columns().Categories(), reference.Categories()...)
	slices.Sort(all)
	all = slices.Compact(all)
	var list []string
	for _, text := range asked {
		before := len(list)
		for _, c := range all {
			if strings.EqualFold(c, text) {
				list = append(list, c)
			}
		}
		if len(list) == before {
			return nil, invalid(p.Name, p.Name+" must be one of "+strings.Join(all, ", ")+".")
		}
	}
	slices.Sort(list) // order and repetition make no difference to the filter
	return slices.Compact(list), nil
}
