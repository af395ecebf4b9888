package main

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"
)

// Laps other than tables.
const (
	lapInPlace    = "in place"       // the new tables take the place of the former ones
	lapIndex      = "index_snapshot" // in the same transaction
	lapCommit     = "commit"         // of that
	lapCheckpoint = "checkpoint"
	lapFiles      = "files"
)

// rebuildTime is the elapsed time and the processor time of a rebuild.
type rebuildTime struct{ took, worked time.Duration }

func (t rebuildTime) String() string {
	return fmt.Sprintf("%s, %s of processor time", t.took.Round(10*time.Millisecond), t.worked.Round(10*time.Millisecond))
}

// ratios compares the processor time and the elapsed time of two rebuilds.
func ratios(a, b rebuildTime) string {
	return fmt.Sprintf("%s of processor time, %s", ratio(a.worked.Seconds(), b.worked.Seconds()), ratio(a.took.Seconds(), b.took.Seconds()))
}

// laps are the times of the steps of a rebuild, one after another.
type laps struct {
	mutex sync.Mutex
	parts []lap
	began time.Time
	used  time.Duration
}

type lap struct {
	name string
	rebuildTime
}

// begin ends the current step and begins the next.
func (l *laps) begin(name string) {
	l.end()
	l.mutex.Lock()
	defer l.mutex.Unlock()
	l.parts = append(l.parts, lap{name: name})
	l.began, l.used = time.Now(), processorTime()
}

// end ends the current step.
func (l *laps) end() {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	if l.began.IsZero() {
		return
	}
	last := &l.parts[len(l.parts)-1]
	last.took, last.worked = time.Since(l.began), processorTime()-l.used
	l.began = time.Time{}
}

// at is the name of the current step; "" if there is none.
func (l *laps) at() string {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	if l.began.IsZero() {
		return ""
	}
	return l.parts[len(l.parts)-1].name
}

// statement is called with every statement of pmx. Some of them begin a step; the files are written after the checkpoint.
func (l *laps) statement(text string) {
	switch at := l.at(); {
	case at == "" || at == lapFiles:
	case at == lapCheckpoint:
		l.begin(lapFiles)
	case text == "CHECKPOINT":
		l.begin(lapCheckpoint)
	case strings.HasPrefix(text, "ALTER TABLE") && at != lapInPlace:
		l.begin(lapInPlace)
	case strings.HasPrefix(text, "UPDATE rollup_state") && at == lapInPlace:
		l.begin(lapIndex)
	case text == "COMMIT" && at == lapIndex: // each of the other steps has one of its own
		l.begin(lapCommit)
	case strings.Contains(text, "weather_lead") && at == "desk_market":
		l.begin("weather_lead")
	}
}

// sum adds up the steps whose names are selected.
func (l *laps) sum(which func(name string) bool) (sum rebuildTime) {
	for _, p := range l.parts {
		if which(p.name) {
			sum.took, sum.worked = sum.took+p.took, sum.worked+p.worked
		}
	}
	return sum
}

// bySteps lists the processor time of each step in both, and the elapsed time, in seconds.
func bySteps(ours, rival *laps) string {
	var names []string
	for _, p := range slices.Concat(ours.parts, rival.parts) {
		if !slices.Contains(names, p.name) {
			names = append(names, p.name)
		}
	}
	var b strings.Builder
	for _, name := range names {
		of := func(l *laps) string {
			t := l.sum(func(n string) bool { return n == name })
			return fmt.Sprintf("%6.2f s in %6.2f s", t.worked.Seconds(), t.took.Seconds())
		}
		fmt.Fprintf(&b, "    %-16s %s, bare SQL %s\n", name, of(ours), of(rival))
	}
	return b.String()
}
