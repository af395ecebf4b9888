//go:build linux

package main

import (
	"fmt"
	"io"
	"os"
	"slices"
	"sync"
	"text/tabwriter"
)

// tally counts what was tested and the results. It may be used by several goroutines.
type tally struct {
	mu     sync.Mutex
	names  []string // in order of first use
	counts map[string]int64
	faults []string
}

// shown is how many failed checks are printed; the others are only counted.
const shown = 30

func newTally() *tally { return &tally{counts: map[string]int64{}} }

// count adds n to a line of the table.
func (t *tally) count(name string, n int64) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if !slices.Contains(t.names, name) {
		t.names = append(t.names, name)
	}
	t.counts[name] += n
}

func (t *tally) counted(name string) int64 {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.counts[name]
}

// fail records a failed check.
func (t *tally) fail(format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	t.mu.Lock()
	defer t.mu.Unlock()
	t.faults = append(t.faults, text)
	if len(t.faults) <= shown {
		fmt.Fprintln(os.Stderr, "FAILED:", text)
	}
}

func (t *tally) failed() int {
	t.mu.Lock()
	defer t.mu.Unlock()
	return len(t.faults)
}

func (t *tally) print(w io.Writer) {
	t.mu.Lock()
	defer t.mu.Unlock()
	out := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	for _, name := range t.names {
		_, _ = fmt.Fprintf(out, "%s\t%d\t\n", name, t.counts[name])
	}
	_, _ = fmt.Fprintf(out, "checks that failed\t%d\t\n", len(t.faults))
	_ = out.Flush()
	for _, text := range t.faults[:min(shown, len(t.faults))] {
		_, _ = fmt.Fprintln(w, "FAILED:", text)
	}
}
