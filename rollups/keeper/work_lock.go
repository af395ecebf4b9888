package keeper

import (
	"context"
	"sync"
)

// workLock lets one piece of work run at a time. Unlike a mutex, waiting can be cancelled.
type workLock struct {
	once sync.Once
	held chan struct{}
}

func (e *workLock) channel() chan struct{} {
	e.once.Do(func() { e.held = make(chan struct{}, 1) })
	return e.held
}

// Lock waits until nobody else holds the lock; an error is that of ctx, which ended before.
func (e *workLock) Lock(ctx context.Context) error {
	select {
	case e.channel() <- struct{}{}:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// TryLock is Lock without waiting.
func (e *workLock) TryLock() bool {
	select {
	case e.channel() <- struct{}{}:
		return true
	default:
		return false
	}
}

// Unlock releases the lock.
func (e *workLock) Unlock() { <-e.held }
