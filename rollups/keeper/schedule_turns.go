package keeper

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/robfig/cron/v3"

	"pmx/engine/guard"
	"pmx/rollups/serving"
)

// lookEvery is how often the wall clock is checked for entries that follow it: it may have been set
// meanwhile.
const lookEvery = 5 * time.Second

// never is how far off a turn is if cron finds no time for its entry: cron looks five years ahead.
const never = 100 * 365 * 24 * time.Hour

// leapYear begins five years that contain every day of the calendar.
var leapYear = time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)

// turn is one entry of a schedule: what to do, and when next. "@every" counts by the monotonic
// clock, which nobody sets; other times are those of the wall clock.
type turn struct {
	name string
	do   func(context.Context) error
	when cron.Schedule
	due  time.Duration // by the monotonic clock; of entries by the wall clock only after a panic, else 0
	wall time.Time     // by the wall clock; zero for "@every", and if cron finds none
	seen time.Time     // the wall clock at the last check
	bad  int           // panics in a row
}

// newTurn parses an entry. It refuses one that is never due.
func newTurn(name, spec string, do func(context.Context) error) (*turn, error) {
	when, err := cron.ParseStandard(spec)
	if err != nil {
		return nil, fmt.Errorf("schedule %q: %w: use five fields, such as \"15 3 * * *\", or \"@every 30s\"", spec, err)
	}
	if when.Next(leapYear).IsZero() {
		return nil, fmt.Errorf("schedule %q never comes: no year has such a day", spec)
	}
	return &turn{name: name, do: do, when: when}, nil
}

// nextTime is the first time of a cron entry after from, in UTC; far off if cron finds none, and
// zero for an invalid entry.
func nextTime(spec string, from time.Time) time.Time {
	when, err := cron.ParseStandard(spec)
	if err != nil {
		return time.Time{} // Schedule.Check says so
	}
	return nextOf(when, bare(from))
}

// nextOf is the first time of when after from; far off if cron finds none.
func nextOf(when cron.Schedule, from time.Time) time.Time {
	if next := when.Next(from); !next.IsZero() {
		return next
	}
	return from.Add(never)
}

// every is the step of an "@every", 0 for others.
func (t *turn) every() time.Duration {
	if s, ok := t.when.(cron.ConstantDelaySchedule); ok {
		return s.Delay
	}
	return 0
}

// plan sets when the turn is next, after one that began at mono and ended at wall.
func (t *turn) plan(mono time.Duration, wall time.Time) {
	if step := t.every(); step > 0 {
		t.due = mono + step
		return
	}
	t.due, t.seen = 0, bare(wall)
	t.wall = t.when.Next(t.seen)
}

// bare is a time without its monotonic reading, in UTC.
func bare(t time.Time) time.Time { return t.UTC().Round(0) }

// left is how long it is until the turn; 0 or less: it is due. If the wall clock was set back, the
// turn is planned again, because its time may be far off now. A turn without a time is planned
// again, too: it is never due.
func (t *turn) left(mono time.Duration, wall time.Time) time.Duration {
	if t.due > 0 {
		return t.due - mono
	}
	wall = bare(wall)
	if wall.Before(t.seen) || t.wall.IsZero() {
		t.wall = t.when.Next(wall)
	}
	t.seen = wall
	if t.wall.IsZero() {
		return never
	}
	return t.wall.Sub(wall)
}

// period is how long it is from one turn to the next.
func (t *turn) period() time.Duration {
	if step := t.every(); step > 0 {
		return step
	}
	if t.wall.IsZero() {
		return never
	}
	return nextOf(t.when, t.wall).Sub(t.wall)
}

// clocks are the two clocks of turns.
type clocks struct {
	began time.Time // with the monotonic clock
	wall  func() time.Time
}

func (c *clocks) mono() time.Duration { return time.Since(c.began) }

// runTurns does turns, one at a time, until ctx ends. planned is called when a turn was planned;
// may be nil.
func (k *Keeper) runTurns(ctx context.Context, turns []*turn, planned func(*turn, time.Duration)) {
	c := &clocks{began: time.Now(), wall: k.cfg.Now}
	if planned == nil {
		planned = func(*turn, time.Duration) {}
	}
	for _, t := range turns {
		t.plan(c.mono(), c.wall())
	}
	for ctx.Err() == nil {
		wait := time.Duration(-1)
		for _, t := range turns {
			left := t.left(c.mono(), c.wall())
			if left <= 0 {
				k.runTurn(ctx, t, c)
				left = t.left(c.mono(), c.wall())
			}
			planned(t, left)
			if t.due == 0 {
				left = min(left, lookEvery)
			}
			if wait < 0 || left < wait {
				wait = left
			}
		}
		_ = guard.Sleep(ctx, max(wait, 0)) // the loop logs it
	}
}

// runTurn does a turn and plans the next; after a panic it is retried, with growing pauses.
func (k *Keeper) runTurn(ctx context.Context, t *turn, c *clocks) {
	began := c.mono()
	err := k.cfg.Watch.Do(t.name, func() error { return t.do(ctx) })
	k.logged(t.name, err)
	t.plan(began, c.wall())
	if !guard.IsPanic(err) {
		t.bad = 0
		return
	}
	t.bad++
	t.due = c.mono() + k.cfg.Watch.Pause(t.bad)
}

// Run does the background work until ctx ends: the keeper's own one task at a time, chores
// concurrently. A cycle that fails is logged and reported in the status, and the previous snapshot
// is kept.
func (k *Keeper) Run(ctx context.Context, s Schedule) error {
	var own []*turn
	var all [][]*turn
	for _, job := range []Chore{{"refresh", s.Refresh, k.Cycle}, {"verify", s.Verify, k.verifyNightly}} {
		if job.When == "" {
			continue
		}
		t, err := newTurn(job.Name, job.When, job.Do)
		if err != nil {
			return err
		}
		own = append(own, t)
	}
	all = append(all, own)
	for _, chore := range s.Chores {
		if chore.When == "" {
			continue
		}
		t, err := newTurn(chore.Name, chore.When, chore.Do)
		if err != nil {
			return err
		}
		all = append(all, []*turn{t})
	}
	var running sync.WaitGroup
	for _, turns := range all {
		if len(turns) == 0 {
			continue
		}
		k.cfg.Watch.Begin(&running, "schedule", func() {
			_ = k.cfg.Watch.Supervise(ctx, "schedule", func(ctx context.Context) error {
				k.runTurns(ctx, turns, k.planned)
				return nil
			})
		})
	}
	<-ctx.Done()
	running.Wait()
	return nil
}

// planned records when the next refresh is, also by the monotonic clock: responses may be cached
// until then.
func (k *Keeper) planned(t *turn, left time.Duration) {
	if t.name != "refresh" {
		return
	}
	k.updateFreshness(func(f *serving.Freshness) { f.NextCycle, f.Period = time.Now().Add(left), t.period() })
}
