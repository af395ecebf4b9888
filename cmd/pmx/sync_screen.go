package main

import (
	"context"
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/rs/zerolog"

	"pmx/rollups/follow"
)

// syncScreen is the output of pmx sync while it follows: log lines, and on a terminal one line of
// progress below them.
type syncScreen struct {
	mu  sync.Mutex
	w   io.Writer
	bar *progressBar
}

func newSyncScreen(std stdio) *syncScreen {
	s := &syncScreen{w: std.err, bar: newProgressBar(std, false)}
	s.bar.estimated = true
	return s
}

// log returns the log: sentences on a terminal, otherwise one JSON object per line.
func (s *syncScreen) log() zerolog.Logger {
	var w io.Writer = s
	if s.bar.on {
		w = zerolog.ConsoleWriter{Out: s, TimeFormat: time.TimeOnly, TimeLocation: time.UTC}
	}
	return zerolog.New(w).Level(zerolog.InfoLevel).With().Timestamp().Logger()
}

// Write writes log lines above the line of the terminal.
func (s *syncScreen) Write(line []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.bar.clear()
	return s.w.Write(line)
}

// clear removes the line of progress.
func (s *syncScreen) clear() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.bar.clear()
}

// run draws the progress of f until ctx ends.
func (s *syncScreen) run(ctx context.Context, f *follower) error {
	defer s.clear()
	if !s.bar.on || f.chain == nil {
		<-ctx.Done()
		return nil
	}
	t := time.NewTicker(500 * time.Millisecond)
	defer t.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-t.C:
			s.draw(f.chain.Status())
		}
	}
}

// draw draws the progress of the chain.
func (s *syncScreen) draw(c follow.ChainStatus) {
	s.mu.Lock()
	defer s.mu.Unlock()
	label, share, note := followed(c, time.Now())
	s.bar.show(label, share, note)
}

// followed describes the progress of the chain: what is happening, the share that is done
// (negative: there is no end), and figures.
func followed(c follow.ChainStatus, now time.Time) (label string, share float64, note string) {
	switch {
	case c.Phase == follow.BackOff && c.Finalized == 0:
		return "no node answers yet", -1, ""
	case c.Finalized == 0:
		return "requesting the newest block", -1, ""
	case c.CatchingUp:
		note = count(c.GapBlocks, "block") + " to go"
		if c.Answered > 0 {
			note += fmt.Sprintf(" (%s answered)", thousands(c.Answered))
		}
		if c.FillsASec > 0 {
			note += fmt.Sprintf(", %s fills/s", thousands(int64(c.FillsASec)))
		}
		if c.Remaining > 0 {
			note += ", about " + roughly(c.Remaining) + " left"
		}
		return "catching up:", c.Progress, note
	case c.Phase == follow.BackOff || c.Phase == follow.Stalled:
		label = "no node answers:"
	case len(c.Held) > 0:
		label = fmt.Sprintf("following, %s held back:", count(int64(len(c.Held)), "range"))
	default:
		label = "following:"
	}
	note = "block " + thousands(c.Committed)
	if !c.AsOf.IsZero() {
		note += fmt.Sprintf(", %s ago", now.Sub(c.AsOf).Round(time.Second))
	}
	return label, -1, note + ", " + count(c.Fills, "new fill")
}

// roughly returns a number of seconds in words.
func roughly(seconds float64) string {
	d := time.Duration(seconds * float64(time.Second))
	switch {
	case d >= 2*time.Hour:
		return fmt.Sprintf("%.0f h", d.Hours())
	case d >= 2*time.Minute:
		return fmt.Sprintf("%.0f min", d.Minutes())
	}
	return fmt.Sprintf("%.0f s", d.Seconds())
}

// printFollowed writes the result of following.
func printFollowed(w io.Writer, s followStatus) {
	if s.Chain != nil {
		printChainFollowed(w, s.Chain)
	}
	if t := s.Trades; t != nil {
		_, _ = fmt.Fprintf(w, "%s of the venue's list of trades, up to %s; the list is not complete\n", count(t.Fills, "fill"), atOrNever(t.AsOf))
	}
}

func printChainFollowed(w io.Writer, c *follow.ChainStatus) {
	upTo := "not complete from the first block on yet"
	if !c.AsOf.IsZero() {
		upTo = fmt.Sprintf("up to block %d of %s", c.Committed, atOrNever(c.AsOf))
	}
	missing := ""
	if c.CatchingUp || len(c.Held) > 0 {
		missing = "; " + count(c.GapBlocks, "block") + " missing, with which the next start continues"
	}
	_, _ = fmt.Fprintf(w, "%s of %s, %s%s\n", count(c.Fills, "fill"), count(c.Logs, "log"), upTo, missing)
}
