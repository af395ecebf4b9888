package fetch

import "time"

// circuit decides whether requests are sent to a host at all. After it has been open for a time, a
// single request tries the host again.
type circuit struct {
	failures int // in a row
	times    int // times opened without a response in between
	why      Condition
	until    time.Time
	probing  bool
}

// A circuit opens after so many failures in a row: the first time for this long, and each further
// time for twice as long, up to longestOpen.
const (
	mostFailures = 10
	firstOpen    = 30 * time.Second
	firstBlocked = time.Minute
	longestOpen  = 15 * time.Minute
)

// condition returns Ready if a request may be sent.
func (c *circuit) condition(now time.Time) (Condition, time.Time) {
	if c.until.IsZero() || !now.Before(c.until) && !c.probing {
		return Ready, time.Time{}
	}
	return c.why, c.until
}

// enter admits a request; probe is set if it is the one that tries the host again.
func (c *circuit) enter(now time.Time) (probe bool, err error) {
	if condition, until := c.condition(now); condition != Ready {
		return false, &ClosedError{State: condition, Until: until}
	}
	c.probing = !c.until.IsZero()
	return c.probing, nil
}

// leave is called for a request that shows neither that the host works nor that it does not.
func (c *circuit) leave(probe bool) {
	if probe {
		c.probing = false
	}
}

// works is called for a request that was answered. A pause that the host has asked for since it was
// sent remains.
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
			why = c.why // a host that still blocks may show it in another way
		}
		c.open(now, why, probe)
	}
}

// open opens the circuit. Requests that were sent before and fail later have no effect.
func (c *circuit) open(now time.Time, why Condition, probe bool) {
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

// pause records a long pause that the host asked for.
func (c *circuit) pause(until time.Time) {
	if until.After(c.until) {
		c.why, c.until = Throttled, until
	}
}
