package fetch

import (
	"errors"
	"fmt"
	"net/http"
	"time"
)

// ErrCircuitOpen is what a *ClosedError is.
var ErrCircuitOpen = errors.New("not asked")

// ErrTooLarge is for an answer that is larger than MaxBody.
var ErrTooLarge = errors.New("the answer is too large")

// ClosedError is for a request that was not sent: the host is not to be asked until then.
type ClosedError struct {
	State State // Open, Blocked, Throttled
	Until time.Time
}

// Error reports when it may be asked again.
func (e *ClosedError) Error() string {
	return fmt.Sprintf("not asked before %s: %s", e.Until.UTC().Format(time.RFC3339), e.State)
}

// Is tells that it is ErrCircuitOpen.
func (e *ClosedError) Is(target error) bool { return target == ErrCircuitOpen }

// StatusError is an answer of another status than those of success.
type StatusError struct {
	Code       int
	Body       string        // its first kilobyte; the title of a page of HTML
	RetryAfter time.Duration // up to an hour; 0: the host did not say
}

// Error returns the status and what the body says.
func (e *StatusError) Error() string {
	text := fmt.Sprintf("status %d", e.Code)
	if e.Body != "" {
		text += ": " + e.Body
	}
	return text
}

// passes reports whether the same request may be answered later.
func (e *StatusError) passes() bool {
	switch e.Code {
	case http.StatusRequestTimeout, http.StatusTooEarly, http.StatusTooManyRequests, 499: // nginx: the client went
		return true
	}
	return e.Code >= http.StatusInternalServerError
}

// Wrong is what is wrong with a body.
type Wrong string

// What is wrong with bodies.
const (
	Turned      Wrong = "a page of HTML, of what stands in front of the host"
	NotAsked    Wrong = "a content type that was not asked for"
	NotJSON     Wrong = "no JSON"
	NoBody      Wrong = "no body"
	Truncated   Wrong = "a part of a body"
	NotPacked   Wrong = "a packed body that cannot be unpacked"
	Encoding    Wrong = "a content encoding that was not asked for"
	NotModified Wrong = "no body for what is not known here"
)

// ShapeError is an answer that is not what it says, or not what was asked for.
type ShapeError struct {
	Code int // its status
	Why  Wrong
	Body string // its first kilobyte
}

// Error reports what came.
func (e *ShapeError) Error() string { return fmt.Sprintf("status %d with %s", e.Code, string(e.Why)) }

// LostError is for a request that got no answer, or not all of it: the connection failed, or
// it took too long.
type LostError struct {
	Why     string
	Timeout bool
}

// Error reports how it was lost.
func (e *LostError) Error() string { return e.Why }
