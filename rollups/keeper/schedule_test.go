package keeper_test

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"time"

	"pmx/rollups/keeper"
)

// A chore runs at its times and not while it is still running, and Run waits for it.
func TestChoresRunBesideTheKeepersWorkAndNeverTwiceAtOnce(t *testing.T) {
	k := open(t, t.TempDir())
	ctx, stop := context.WithCancel(t.Context())
	began, ended := make(chan struct{}, 10), make(chan struct{})
	var under, quick atomic.Int32
	slow := func(ctx context.Context) error {
		if under.Add(1) > 1 {
			t.Error("a chore began while it was running")
		}
		began <- struct{}{}
		<-ctx.Done()
		under.Add(-1)
		close(ended)
		return ctx.Err()
	}
	failing := func(context.Context) error { quick.Add(1); return errors.New("no luck") }
	schedule := keeper.Schedule{Chores: []keeper.Chore{{Name: "slow", When: "@every 1s", Do: slow}, {Name: "failing", When: "@every 1s", Do: failing}, {Name: "never"}}}
	if err := schedule.Check(); err != nil {
		t.Fatal(err)
	}
	done := make(chan error, 1)
	go func() { done <- k.Run(ctx, schedule) }()
	<-began
	for quick.Load() < 3 {
		time.Sleep(10 * time.Millisecond)
	}
	stop()
	if err := <-done; err != nil {
		t.Error(err)
	}
	select {
	case <-ended:
	default:
		t.Error("Run did not wait for the chore")
	}
	if (keeper.Schedule{Chores: []keeper.Chore{{When: "sometimes"}}}).Check() == nil {
		t.Error("an invalid time is accepted")
	}
}
