package follow

import "time"

// reached reports whether a time in unix seconds, which was set at most so long ahead, has come. One that is further
// off was set by a clock that was ahead, and counts as reached: waiting for it would mean waiting until the clock
// gets there again.
func reached(at int64, now time.Time, most time.Duration) bool {
	return at <= now.Unix() || at > now.Add(most).Unix()
}

// passed reports whether it has been at least so long since a time in unix seconds. It has since one that is ahead,
// which was set by a clock that was ahead then.
func passed(since int64, now time.Time, least time.Duration) bool {
	return since > now.Unix() || now.Sub(time.Unix(since, 0)) >= least
}
