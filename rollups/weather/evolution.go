package weather

import (
	"cmp"
	"slices"

	"pmx/data"
)

// Change is a point at which a source gave a value of one extreme of a day.
type Change struct {
	Source   string
	IssuedAt int64 // unix µs
	Value    data.Temp
}

// Step is a Change as the evolution of a forecast shows it.
type Step struct {
	Change
	Lead  Lead
	Delta *data.Temp // Value minus the source's previous value, a difference; nil for its first
}

// Drift is how far a forecast moved.
type Drift struct {
	Source        string // "" for all together
	First, Latest Change
	// Total is the latest value minus the first of the same source; for all together, the mean of
	// the sources' totals, because one source's latest minus another's first is not a change.
	Total data.Temp
	Range data.Temp // the highest value minus the lowest
	Steps int
}

// Evolution is how the forecasts of one extreme of one day changed.
type Evolution struct {
	Steps   []Step  // by time, then source
	Sources []Drift // by source
	All     *Drift  // nil if there is no forecast
}

// Evolve returns the evolution of the forecasts of a city's day, in any order. Values given after
// the local day was over are left out: these are not forecasts.
func Evolve(c data.City, day data.Date, changes []Change) Evolution {
	_, end := c.Day(day)
	kept := slices.DeleteFunc(slices.Clone(changes), func(x Change) bool { return x.IssuedAt >= end.UnixMicro() })
	slices.SortFunc(kept, func(a, b Change) int {
		return cmp.Or(cmp.Compare(a.IssuedAt, b.IssuedAt), cmp.Compare(a.Source, b.Source))
	})
	e := Evolution{Steps: make([]Step, len(kept))}
	bySource := map[string][]Change{}
	for i, x := range kept {
		e.Steps[i] = Step{Change: x, Lead: LeadOf(c, day, x.IssuedAt)}
		if before := bySource[x.Source]; len(before) > 0 {
			delta := x.Value - before[len(before)-1].Value
			e.Steps[i].Delta = &delta
		}
		bySource[x.Source] = append(bySource[x.Source], x)
	}
	if len(kept) == 0 {
		return e
	}
	total := int64(0)
	for source, list := range bySource {
		d := driftOf(source, list)
		total += int64(d.Total)
		e.Sources = append(e.Sources, d)
	}
	slices.SortFunc(e.Sources, func(a, b Drift) int { return cmp.Compare(a.Source, b.Source) })
	all := driftOf("", kept)
	all.Total = rounded(total, int64(len(bySource)))
	e.All = &all
	return e
}

func driftOf(source string, list []Change) Drift {
	d := Drift{Source: source, First: list[0], Latest: list[len(list)-1], Steps: len(list)}
	lo, hi := list[0].Value, list[0].Value
	for _, x := range list {
		lo, hi = min(lo, x.Value), max(hi, x.Value)
	}
	d.Total, d.Range = d.Latest.Value-d.First.Value, hi-lo
	return d
}
