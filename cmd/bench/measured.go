package main

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"time"
)

// figure is a plotted figure.
type figure struct {
	name, title, unit string
	goal              float64
}

// plotted are the figures that are recorded for a run, to show how they grow with the venue. goal
// is the target at any size.
var plotted = []figure{
	{"fresh_ms", "10,000 new fills, from the file to the answer", "ms", 200},
	{"commit_ms", "100 new fills, until they are served", "ms", 50},
	{"start_ms", "start, until the first answer", "ms", 2000},
	{"memory_mb", "memory of a settled server, without pages of files", "MB", 2500},
	{"bytes_per_fill", "bytes per fill in the database", "B", 80},
}

// measuredRun has the figures of one venue on one day. A figure that was measured more
// than once has all of its values, or the smallest and the largest.
type measuredRun struct {
	On      string               `json:"on"`
	Note    string               `json:"note"`
	Fills   int64                `json:"fills"`
	Figures map[string][]float64 `json:"figures"`
}

// keep records a plotted figure of a venue with this many fills.
func (b *bench) keep(fills int64, name string, values ...float64) {
	b.kept = withRun(b.kept, measuredRun{On: time.Now().UTC().Format(time.DateOnly), Note: b.Note, Fills: fills, Figures: map[string][]float64{name: values}})
}

// withRun adds a run. If there is one with the same size, day and note, figures that were measured
// again are replaced in it.
func withRun(runs []measuredRun, r measuredRun) []measuredRun {
	i := slices.IndexFunc(runs, func(o measuredRun) bool { return o.On == r.On && o.Note == r.Note && o.Fills == r.Fills })
	if i < 0 {
		runs = append(runs, measuredRun{r.On, r.Note, r.Fills, map[string][]float64{}})
		i = len(runs) - 1
	}
	maps.Copy(runs[i].Figures, r.Figures)
	slices.SortFunc(runs, func(x, y measuredRun) int {
		return cmp.Or(cmp.Compare(x.On, y.On), cmp.Compare(x.Note, y.Note), cmp.Compare(x.Fills, y.Fills))
	})
	return runs
}

// readRuns reads the recorded runs; none if there is no file.
func readRuns(file string) (runs []measuredRun, err error) {
	text, err := os.ReadFile(file)
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	if err == nil {
		err = json.Unmarshal(text, &runs)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	for _, r := range runs {
		for name, values := range r.Figures {
			known := slices.ContainsFunc(plotted, func(f figure) bool { return f.name == name })
			if !known || len(values) == 0 || slices.Min(values) <= 0 || r.Fills <= 0 {
				return nil, fmt.Errorf("%s: %q of %d fills is %v", file, name, r.Fills, values)
			}
		}
	}
	return runs, nil
}

// record adds the figures of this run to the file.
func (b *bench) record() error {
	runs, err := readRuns(b.Measured)
	if err != nil {
		return err
	}
	for _, r := range b.kept {
		runs = withRun(runs, r)
	}
	text, err := json.MarshalIndent(runs, "", " ")
	if err != nil {
		return err
	}
	return os.WriteFile(b.Measured, append(text, '\n'), 0o644)
}

// plot draws the recorded runs next to their file.
func (b *bench) plot() error {
	runs, err := readRuns(b.Measured)
	if err != nil {
		return err
	}
	if len(runs) == 0 {
		return fmt.Errorf("%s has no figures: measure with --record first", b.Measured)
	}
	return os.WriteFile(strings.TrimSuffix(b.Measured, ".json")+".svg", drawRuns(runs), 0o644)
}
