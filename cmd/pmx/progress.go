package main

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/mattn/go-isatty"
	"github.com/schollz/progressbar/v3"

	"pmx/engine/ingest"
	"pmx/rollups/keeper"
)

func lines(text string) []string {
	out := strings.Split(text, "\n")
	for i := range out {
		out[i] = strings.TrimSpace(out[i])
	}
	return out
}

// isTerminal reports whether w is a terminal that a bar can be drawn on.
func isTerminal(w io.Writer) bool {
	f, ok := w.(*os.File)
	return ok && isatty.IsTerminal(f.Fd())
}

// progressBar shows progress: a bar on a terminal, nothing elsewhere.
type progressBar struct {
	w     io.Writer
	on    bool
	bar   *progressbar.ProgressBar
	label string
	began time.Time

	estimated bool // the notes have an estimate of the remaining time
}

func newProgressBar(std stdio, quiet bool) *progressBar {
	return &progressBar{w: std.err, on: !quiet && isTerminal(std.err)}
}

const barSteps = 1000

// show draws share (0…1, negative: unknown) of the work named label.
func (m *progressBar) show(label string, share float64, note string) {
	if !m.on {
		return
	}
	if m.bar == nil || label != m.label {
		m.clear()
		steps := barSteps
		if share < 0 {
			steps = -1
		}
		m.label, m.began = label, time.Now()
		m.bar = progressbar.NewOptions(steps, progressbar.OptionSetWriter(m.w), progressbar.OptionClearOnFinish(),
			progressbar.OptionSetWidth(24), progressbar.OptionSetElapsedTime(true),
			progressbar.OptionSetPredictTime(!m.estimated), progressbar.OptionThrottle(100*time.Millisecond))
	}
	m.bar.Describe(fitted(label, note, columnsOf(m.w), share))
	if share >= 0 {
		_ = m.bar.Set(int(share * barSteps)) // it does not matter if the bar cannot be drawn
	} else {
		_ = m.bar.Add(1)
	}
}

func (m *progressBar) clear() {
	if m.bar != nil {
		_ = m.bar.Finish()
		_ = m.bar.Clear()
		m.bar = nil
	}
}

func (m *progressBar) stage(s stage) {
	m.show("computing", float64(s.Done)/float64(max(s.Of, 1)), s.Name)
}

func (m *progressBar) imported(e keeper.Event) {
	switch {
	case e.Progress != nil:
		m.file(*e.Progress)
	case e.Step != "":
		m.stage(stage{e.Step, e.Done, e.Of})
	default:
		m.clear()
	}
}

func (m *progressBar) file(p ingest.Progress) {
	note := ""
	if p.Phase == "reading" && p.Rows > 0 && m.bar != nil {
		if s := time.Since(m.began).Seconds(); s > 0.5 {
			note = fmt.Sprintf("%s rows/s", thousands(int64(float64(p.Rows)/s)))
		}
	}
	name := filepath.Base(p.File)
	m.show(p.Phase+" "+visible(name, name), p.Done, note)
}

// count writes how many there are of what, which is in the singular: 1,234 files.
func count(n int64, what string) string {
	if n != 1 {
		what += "s"
	}
	return thousands(n) + " " + what
}

// thousands formats n with separators: 1,234,567.
func thousands(n int64) string {
	s := fmt.Sprint(n)
	neg := strings.HasPrefix(s, "-")
	s = strings.TrimPrefix(s, "-")
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	if neg {
		s = "-" + s
	}
	return s
}
