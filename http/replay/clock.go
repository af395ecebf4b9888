package replay

import (
	"sync"
	"time"
)

// Clock is the time of the sources.
type Clock struct {
	mu    sync.Mutex
	base  time.Time // the time it showed at
	since time.Time // this real time
	speed float64
	now   func() time.Time
}

func newClock(start time.Time, speed float64, now func() time.Time) *Clock {
	return &Clock{base: start, since: now(), speed: speed, now: now}
}

// Now returns the time that the clock shows.
func (c *Clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.read()
}

func (c *Clock) read() time.Time {
	return c.base.Add(time.Duration(float64(c.now().Sub(c.since)) * c.speed)).UTC()
}

// Advance moves the clock forward, or back if d is negative.
func (c *Clock) Advance(d time.Duration) { c.set(func(at time.Time) time.Time { return at.Add(d) }) }

// Set sets the clock.
func (c *Clock) Set(at time.Time) { c.set(func(time.Time) time.Time { return at }) }

func (c *Clock) set(to func(time.Time) time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.base = to(c.read())
	c.since = c.now()
}

// SetSpeed sets the speed of the clock from now on.
func (c *Clock) SetSpeed(speed float64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.base = c.read()
	c.since, c.speed = c.now(), speed
}
