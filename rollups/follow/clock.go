package follow

import "time"

// reached reports whether a time, unix seconds, has come. It was set at most so long in advance. A
// time further ahead was set by a clock that was ahead and counts as reached; otherwise it would be
// waited for until the clock gets there again.
func reached(at int64, now time.Time, most time.Duration) bool {
	return at <= now.Unix() || at > now.Add(most).Unix()
}

// passed reports whether at least so long has passed since a time, unix seconds. A time in the
// future, which was set by a clock that was ahead, counts as passed.
func passed(since int64, now time.Time, least time.Duration) bool {
	return since > now.Unix() || now.Sub(time.Unix(since, 0)) >= least
}
