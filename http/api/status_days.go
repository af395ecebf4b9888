package api

import (
	"cmp"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"pmx/engine/control/record"
)

const (
	// StatusDays is how many days the daily history has, including today.
	StatusDays = 90
	// StatusEvents is how many events are kept: the newest ones.
	StatusEvents = 1000
	sourcePrefix = "source:" // prefix of the name of a source, to distinguish it from a subsystem
)

// statusDays sums up samples by day, and has the events.
type statusDays struct {
	mu      sync.Mutex
	loaded  bool // the stored history was loaded: before that nothing is stored, as it would replace it
	days    map[statusKey]record.StatusDay
	events  []record.StatusEvent // in order of time
	changed map[statusKey]bool   // days whose current state is not stored
	news    []record.StatusEvent // events whose current state is not stored; later ones replace earlier ones
	seen    statusMarks
	encoded map[int][]byte // responses by their number of days, for the minute made
	made    int64
}

// statusKey identifies a row of the daily history.
type statusKey struct{ day, subsystem string }

// load adds the stored history kept.
func (h *statusDays) load(kept record.StatusChange) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.days = make(map[statusKey]record.StatusDay, len(kept.Days))
	for _, d := range kept.Days {
		h.days[statusKey{d.Day, d.Subsystem}] = d
	}
	h.events, h.encoded, h.loaded = kept.Events, nil, true
	for _, e := range h.news { // from before it was loaded
		h.insert(e)
	}
}

// isLoaded reports whether the stored history was loaded.
func (h *statusDays) isLoaded() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.loaded
}

// add counts a sample, and subtracts those that it replaces.
func (h *statusDays) add(s *record.Status, replaced []record.Status) {
	for i := range replaced {
		h.count(&replaced[i], -1)
	}
	h.count(s, 1)
	oldest := dayText(s.At.AddDate(0, 0, 1-StatusDays))
	maps.DeleteFunc(h.days, func(k statusKey, _ record.StatusDay) bool { return k.day < oldest })
	h.encoded = nil
}

func (h *statusDays) count(s *record.Status, n int64) {
	day := dayText(s.At)
	for i, name := range [...]string{servingRule.name, tradesRule.name, marketsRule.name} {
		h.countSample(statusKey{day, name}, s.Grades[i], s.Lags[i], n)
	}
	for name, source := range s.Sources {
		h.countSample(statusKey{day, sourcePrefix + name}, source.Grade, source.Lag, n)
	}
}

func (h *statusDays) countSample(k statusKey, grade byte, lag, n int64) {
	place := strings.IndexByte(grades, grade)
	if place < 0 {
		return
	}
	d, known := h.days[k]
	if !known {
		d = record.StatusDay{Day: k.day, Subsystem: k.subsystem, LagMax: -1}
	}
	d.Minutes[place] = max(0, d.Minutes[place]+n)
	d.LagMax = max(d.LagMax, lag)
	if h.days == nil {
		h.days = map[statusKey]record.StatusDay{}
	}
	if h.changed == nil {
		h.changed = map[statusKey]bool{}
	}
	h.days[k], h.changed[k] = d, true
}

// put adds an event, or replaces the one that it continues.
func (h *statusDays) put(e record.StatusEvent) {
	h.insert(e)
	h.news, h.encoded = append(h.news, e), nil
}

func (h *statusDays) insert(e record.StatusEvent) {
	same := func(o record.StatusEvent) bool {
		return o.At.Equal(e.At) && o.Kind == e.Kind && o.Subsystem == e.Subsystem
	}
	if i := slices.IndexFunc(h.events, same); i >= 0 {
		h.events = slices.Clone(h.events) // readers may have the list
		h.events[i] = e
	} else {
		at := len(h.events)
		for at > 0 && h.events[at-1].At.After(e.At) {
			at--
		}
		h.events = slices.Insert(slices.Clone(h.events), at, e)
		h.events = h.events[max(0, len(h.events)-StatusEvents):]
	}
}

// open returns the ongoing event of a kind and subsystem, nil if there is none.
func (h *statusDays) open(kind, name string) *record.StatusEvent {
	for i := range slices.Backward(h.events) {
		if e := &h.events[i]; e.Kind == kind && e.Subsystem == name {
			if e.Until.IsZero() {
				last := *e
				return &last
			}
			return nil
		}
	}
	return nil
}

// change returns what is not stored yet.
func (h *statusDays) change() record.StatusChange {
	h.mu.Lock()
	defer h.mu.Unlock()
	c := record.StatusChange{Events: slices.Clone(h.news)}
	for k := range h.changed {
		if d, known := h.days[k]; known {
			c.Days = append(c.Days, d)
		}
	}
	slices.SortFunc(c.Days, func(x, y record.StatusDay) int {
		return cmp.Or(cmp.Compare(x.Day, y.Day), cmp.Compare(x.Subsystem, y.Subsystem))
	})
	return c
}

// stored notes that c is stored.
func (h *statusDays) stored(c record.StatusChange) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.news = h.news[len(c.Events):]
	for _, d := range c.Days {
		if k := (statusKey{d.Day, d.Subsystem}); h.days[k] == d {
			delete(h.changed, k)
		}
	}
}

// dayText is a UTC day as written in the history.
func dayText(t time.Time) string { return t.UTC().Format(time.DateOnly) }
