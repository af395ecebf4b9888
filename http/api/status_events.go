package api

import (
	"time"

	"github.com/dustin/go-humanize"

	"pmx/engine/control/record"
)

// Kinds of events in the history of the service.
const (
	eventGrade   = "grade"   // a subsystem or source had the grade C or worse
	eventImport  = "import"  // files were imported
	eventRefresh = "refresh" // refreshes failed
	eventVerify  = "verify"  // the database was verified
	eventStart   = "start"
	eventStop    = "stop"
)

// goodGrades are the grades that make no event.
const goodGrades = "AB"

// importPause is the longest pause without imports within one event.
const importPause = 2 * sampleEvery

// statusMarks is what the previous sample found, to notice what happened since.
type statusMarks struct {
	taken                  bool // there was one
	fills                  int64
	lastFills, lastMarkets time.Time
	verified               time.Time
	imported               int64 // fills of the ongoing import
}

// note adds what happened since the previous sample to the history. The caller holds the lock.
func (a *API) note(h *statusDays, at time.Time, subsystems []subsystem, sources []sourceStatus) {
	for i := range subsystems {
		h.noteGrade(at, subsystems[i].rule.name, subsystems[i].grade, subsystems[i].detail())
	}
	for i := range sources {
		h.noteGrade(at, sourcePrefix+sources[i].Name, sources[i].grade, sources[i].detail())
	}
	fresh, marks := a.source.Freshness(), statusMarks{taken: true, imported: h.seen.imported}
	failed := record.StatusEvent{At: wholeSeconds(laterOf(fresh.LastFailure, a.started)), Kind: eventRefresh, Text: "A refresh failed: responses show the data from before it."}
	h.noteLasting(at, fresh.FailureText != "", failed)
	if v := a.published.Load(); v != nil {
		marks.fills = v.snap.Counts.Fills
	}
	marks.lastFills, marks.lastMarkets, marks.verified = fresh.LastFills, fresh.LastMarkets, fresh.LastVerified
	if h.seen.taken && marks.verified.After(h.seen.verified) {
		text := "The whole database was verified: all of it holds."
		if fresh.VerifyFailure != "" {
			text = "A verification of the database found a difference: the server's log says which."
		}
		h.put(record.StatusEvent{At: wholeSeconds(marks.verified), Kind: eventVerify, Text: text})
	}
	if h.seen.taken && len(sources) == 0 { // from followed sources something comes in all the time
		h.noteImport(&marks)
	}
	h.seen = marks
}

// noteGrade begins, changes or ends the event of a subsystem's or source's grade.
func (h *statusDays) noteGrade(at time.Time, name string, place int, detail string) {
	grade := grades[place]
	last := h.open(eventGrade, name)
	if grade == goodGrades[0] || grade == goodGrades[1] {
		if last != nil {
			last.Until = at
			h.put(*last)
		}
		return
	}
	if last == nil {
		h.put(record.StatusEvent{At: at, Kind: eventGrade, Subsystem: name, Grade: grade, Text: detail})
	} else if grade > last.Grade {
		last.Grade, last.Text = grade, detail
		h.put(*last)
	}
}

// noteLasting begins or ends an event that lasts while goesOn is true.
func (h *statusDays) noteLasting(at time.Time, goesOn bool, e record.StatusEvent) {
	switch last := h.open(e.Kind, e.Subsystem); {
	case goesOn && last == nil:
		h.put(e)
	case !goesOn && last != nil:
		last.Until = at
		h.put(*last)
	}
}

// noteImport adds what was imported since the previous sample, to the previous import event if there was hardly
// a pause.
func (h *statusDays) noteImport(now *statusMarks) {
	end := laterOf(now.lastFills, now.lastMarkets)
	if !end.After(laterOf(h.seen.lastFills, h.seen.lastMarkets)) {
		return
	}
	end, now.imported = wholeSeconds(end), max(0, now.fills-h.seen.fills)
	e := record.StatusEvent{At: end, Kind: eventImport}
	if n := len(h.events); n > 0 && h.events[n-1].Kind == eventImport && end.Sub(laterOf(h.events[n-1].At, h.events[n-1].Until)) <= importPause {
		e = h.events[n-1]
		e.Until = end
		now.imported += h.seen.imported
	}
	e.Text = importText(now.imported)
	h.put(e)
}

// importText says how many fills an import added.
func importText(fills int64) string {
	if fills == 0 {
		return "Files were imported that added no fills."
	}
	return "Files were imported: " + humanize.Comma(fills) + " new fills."
}

// noteStart adds the start of the server.
func (h *statusDays) noteStart(at time.Time, version string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.put(record.StatusEvent{At: wholeSeconds(at), Kind: eventStart, Text: "The server was started, version " + version + "."})
}

// noteStop adds the stop of the server.
func (h *statusDays) noteStop(at time.Time) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.put(record.StatusEvent{At: wholeSeconds(at), Kind: eventStop, Text: "The server was stopped."})
}

func laterOf(x, y time.Time) time.Time {
	if y.After(x) {
		return y
	}
	return x
}
