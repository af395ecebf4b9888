package replay

import (
	"sync"
	"time"
)

// Clock is the time of the sources.
type Clock struct {
	mu    sync.Mutex
	base  time.Time // what it showed at
	since time.Time // this real time
	speed float64
	now   func() time.Time
}

func newClock(start time.Time, speed float64, now func() time.Time) *Clock {
	return &Clock{base: start, since: now(), speed: speed, now: now}
}

// Now returns what the clock shows.
func (c *Clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.read()
}

func (c *Clock) read() time.Time {
	return c.base.Add(time.Duration(float64(c.now().Sub(c.since)) * c.speed)).UTC()
}

// Advance moves the clock on, or back where d is below 0.
func (c *Clock) Advance(d time.Duration) { c.set(func(at time.Time) time.Time { return at.Add(d) }) }

// Set makes the clock show a time.
func (c *Clock) Set(at time.Time) { c.set(func(time.Time) time.Time { return at }) }

func (c *Clock) set(to func(time.Time) time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.base = to(c.read())
	c.since = c.now()
}

// SetSpeed makes the clock go as fast from now on.
func (c *Clock) SetSpeed(speed float64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.base = c.read()
	c.since, c.speed = c.now(), speed
}
