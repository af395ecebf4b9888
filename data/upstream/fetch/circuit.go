package fetch

import "time"

// circuit is whether a host is asked at all. Where it was opened, one request tries it again
// once its time is over.
type circuit struct {
	failures int // in a row
	times    int // opened, without an answer between
	why      State
	until    time.Time
	probing  bool
}

// A circuit opens after so many failures in a row, the first time for so long, and each time
// for twice as long up to longestOpen.
const (
	mostFailures = 10
	firstOpen    = 30 * time.Second
	firstBlocked = time.Minute
	longestOpen  = 15 * time.Minute
)

// state returns Ready where a request may try.
func (c *circuit) state(now time.Time) (State, time.Time) {
	if c.until.IsZero() || !now.Before(c.until) && !c.probing {
		return Ready, time.Time{}
	}
	return c.why, c.until
}

// enter lets a request through; probe tells that it is the one that tries.
func (c *circuit) enter(now time.Time) (probe bool, err error) {
	if state, until := c.state(now); state != Ready {
		return false, &ClosedError{State: state, Until: until}
	}
	c.probing = !c.until.IsZero()
	return c.probing, nil
}

// leave is for a request that says neither that the host works nor that it does not.
func (c *circuit) leave(probe bool) {
	if probe {
		c.probing = false
	}
}

// works is for a request that was answered. What the host asked for since it was sent stands.
func (c *circuit) works(now time.Time) {
	if c.failures = 0; c.why != Throttled || !now.Before(c.until) {
		*c = circuit{}
	}
}

func (c *circuit) failed(now time.Time, probe bool) {
	c.failures++
	if probe || c.failures >= mostFailures {
		why := Open
		if probe {
			why = c.why // what is still blocked may say so in another way
		}
		c.open(now, why, probe)
	}
}

// open opens the circuit. What was sent before that, and fails after, changes nothing.
func (c *circuit) open(now time.Time, why State, probe bool) {
	c.leave(probe)
	if now.Before(c.until) {
		return
	}
	first := firstOpen
	if why == Blocked {
		first = firstBlocked
	}
	c.why, c.until = why, now.Add(min(first<<min(c.times, 10), longestOpen))
	c.times++
}

// pause is what the host asked for, if it is long.
func (c *circuit) pause(until time.Time) {
	if until.After(c.until) {
		c.why, c.until = Throttled, until
	}
}
