package keeper

import (
	"context"
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"pmx/engine/guard"
)

func turnOf(t *testing.T, spec string, do func(context.Context) error) *turn {
	t.Helper()
	out, err := newTurn("refresh", spec, do)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func TestStepsDoNotFollowTheWallClock(t *testing.T) {
	noon := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	step := turnOf(t, "@every 30s", nil)
	step.plan(time.Hour, noon)
	for _, wall := range []time.Time{noon, noon.Add(-24 * time.Hour), noon.Add(24 * time.Hour)} {
		if left := step.left(time.Hour+10*time.Second, wall); left != 20*time.Second {
			t.Errorf("at %s: %s left", wall, left)
		}
	}
	if step.period() != 30*time.Second {
		t.Errorf("period %s", step.period())
	}
}

func TestTimesOfDayFollowAClockThatIsSet(t *testing.T) {
	at := func(h, m int) time.Time { return time.Date(2026, 3, 1, h, m, 0, 0, time.UTC) }
	night := turnOf(t, "15 3 * * *", nil)
	night.plan(0, at(3, 0))
	for _, c := range []struct {
		wall time.Time
		want time.Duration
	}{
		{at(3, 0), 15 * time.Minute},
		{at(3, 10), 5 * time.Minute},
		{at(1, 0), 135 * time.Minute},   // set back
		{at(3, 15), 0},                  // due
		{at(12, 0), -525 * time.Minute}, // set forward past it: overdue, done once
	} {
		if left := night.left(0, c.wall); left != c.want {
			t.Errorf("at %s: due in %s, want %s", c.wall.Format(time.TimeOnly), left, c.want)
		}
	}
	night.plan(0, at(12, 0))
	if left := night.left(0, at(12, 0)); left != 15*time.Hour+15*time.Minute {
		t.Errorf("after it: %s left", left)
	}
	if left := night.left(0, at(2, 15)); left != time.Hour {
		t.Errorf("set back after it: due in %s, not in the next night", left)
	}
	if night.period() != 24*time.Hour {
		t.Errorf("period %s", night.period())
	}
}

// A schedule keeps its step while the wall clock is set back by a day and forward.
func TestAScheduleGoesOnThroughClockSteps(t *testing.T) {
	var offset atomic.Int64
	k := &Keeper{cfg: Config{Watch: guard.New(zerolog.Nop()), Now: func() time.Time { return time.Now().Add(time.Duration(offset.Load())) }}}
	ctx, stop := context.WithCancel(t.Context())
	var times atomic.Int32
	jumps := []time.Duration{-24 * time.Hour, 24 * time.Hour, -time.Hour, 0}
	step := turnOf(t, "@every 1s", func(context.Context) error {
		n := times.Add(1)
		if int(n) > len(jumps) {
			stop()
			return nil
		}
		offset.Store(int64(jumps[n-1]))
		return nil
	})
	began := time.Now()
	k.runTurns(ctx, []*turn{step}, func(t2 *turn, left time.Duration) {
		k.planned(t2, left)
		if f := k.Freshness(); time.Until(f.NextCycle) > time.Second || f.Period != time.Second {
			t.Errorf("next refresh in %s, every %s", time.Until(f.NextCycle), f.Period)
		}
	})
	if took := time.Since(began); took > 15*time.Second {
		t.Errorf("five turns a second apart took %s", took)
	}
}

func TestScheduledWorkThatPanicsIsRetried(t *testing.T) {
	watch := guard.New(zerolog.Nop()).WithPauses(time.Millisecond, 8*time.Millisecond)
	k := &Keeper{cfg: Config{Watch: watch, Now: time.Now}}
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	var tries int
	nightly := turnOf(t, "15 3 * * *", func(context.Context) error {
		if tries++; tries < 4 {
			panic("boom")
		}
		stop()
		return nil
	})
	nightly.name = "verify"
	c := &clocks{began: time.Now(), wall: time.Now}
	nightly.plan(0, time.Now())
	k.runTurn(ctx, nightly, c) // the first time is at night
	if parts := watch.Statuses(); len(parts) != 1 || !parts[0].Failing || nightly.left(c.mono(), time.Now()) > 8*time.Millisecond {
		t.Fatalf("parts = %+v", parts)
	}
	for ctx.Err() == nil {
		_ = guard.Sleep(ctx, max(0, nightly.left(c.mono(), time.Now()))) // the loop tells
		if ctx.Err() == nil {
			k.runTurn(ctx, nightly, c)
		}
	}
	if part := watch.Statuses()[0]; tries != 4 || part.Failing || part.Panics != 3 {
		t.Errorf("%d tries, %+v", tries, part)
	}
	if left := nightly.left(c.mono(), time.Now()); left < time.Second {
		t.Errorf("after a success it is due in %s, want the next night", left)
	}
}

func TestAFileOfTheInboxFromTheFutureIsTaken(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.csv")
	if err := os.WriteFile(path, []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	var a arrivals
	if now := info.ModTime(); !a.settled(info, now.Add(time.Hour)) || a.settled(info, now.Add(time.Second)) {
		t.Error("by its age, a file is taken too early or too late")
	}
	past := info.ModTime().Add(-24 * time.Hour)
	if first, second := a.settled(info, past), a.settled(info, past); first || second {
		t.Error("a file from the future is taken when it is first seen")
	}
	was := a.seen[info.Name()]
	was.since = was.since.Add(-settleTime)
	a.seen[info.Name()] = was
	if !a.settled(info, past) {
		t.Error("a file that nobody wrote to is not taken")
	}
	if err := os.WriteFile(path, []byte("longer"), 0o600); err != nil {
		t.Fatal(err)
	}
	if info, err = os.Stat(path); err != nil || a.settled(info, past) {
		t.Error("a file that has grown is taken:", err)
	}
}

func TestScheduleErrors(t *testing.T) {
	if err := (Schedule{Refresh: "@every 30s", Verify: "15 3 * * *"}).Check(); err != nil {
		t.Error(err)
	}
	if err := (Schedule{Verify: "0 0 29 2 *"}).Check(); err != nil {
		t.Error("a leap day is refused:", err)
	}
	k := &Keeper{cfg: Config{Watch: guard.New(zerolog.Nop()), Now: time.Now}}
	for _, s := range []Schedule{{Refresh: "often"}, {Verify: "1 2 3"}, {Chores: []Chore{{When: "x"}}},
		{Refresh: "0 0 30 2 *"}, {Verify: "0 0 31 4,6 *"}, {Chores: []Chore{{When: "0 0 30 2 *"}}}} {
		if s.Check() == nil || k.Run(t.Context(), s) == nil {
			t.Errorf("%+v is accepted", s)
		}
	}
}

// 2100 is not a leap year: from 2097 on cron does not find the leap day of 2104.
func TestAnEntryThatIsTooFarOffIsNotDue(t *testing.T) {
	early, late := time.Date(2097, 1, 1, 0, 0, 0, 0, time.UTC), time.Date(2100, 1, 1, 0, 0, 0, 0, time.UTC)
	leap := turnOf(t, "0 0 29 2 *", nil)
	leap.plan(0, early)
	if left, period := leap.left(0, early), leap.period(); left != never || period != never {
		t.Errorf("%s left, every %s", left, period)
	}
	if next := nextTime("0 0 29 2 *", early); next.Sub(early) != never {
		t.Errorf("the next time is %s", next)
	}
	want := time.Date(2104, 2, 29, 0, 0, 0, 0, time.UTC).Sub(late)
	if left := leap.left(0, late); left != want {
		t.Errorf("shortly before it is due in %s, want %s", left, want)
	}
	leap.plan(0, time.Date(2096, 1, 1, 0, 0, 0, 0, time.UTC))
	if period := leap.period(); period != never {
		t.Errorf("from 2096 on the period is %s", period)
	}
}
