package keeper

import (
	"context"
	"sync"
)

// exclusive lets one piece of work in at a time. Unlike those who wait for a mutex,
// those who wait here may leave.
type exclusive struct {
	once sync.Once
	held chan struct{}
}

func (e *exclusive) place() chan struct{} {
	e.once.Do(func() { e.held = make(chan struct{}, 1) })
	return e.held
}

// Enter waits until nobody else is in; an error is that of ctx, which ended before.
func (e *exclusive) Enter(ctx context.Context) error {
	select {
	case e.place() <- struct{}{}:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// TryEnter is Enter without waiting.
func (e *exclusive) TryEnter() bool {
	select {
	case e.place() <- struct{}{}:
		return true
	default:
		return false
	}
}

// Leave lets the next one in.
func (e *exclusive) Leave() { <-e.held }
