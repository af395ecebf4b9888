package fetch

import (
	"errors"
	"fmt"
	"net/http"
	"time"
)

// ErrCircuitOpen matches every *ClosedError.
var ErrCircuitOpen = errors.New("not sent")

// ErrTooLarge is the error of a response that is larger than MaxBody.
var ErrTooLarge = errors.New("the response is too large")

// ClosedError is the error of a request that was not sent, because no requests may be sent to the
// host until Until.
type ClosedError struct {
	State Condition // Open, Blocked, Throttled
	Until time.Time
}

// Error says until when requests are paused, and why.
func (e *ClosedError) Error() string {
	why := "too many requests in a row failed"
	switch e.State {
	case Throttled:
		why = "the host asked for this pause"
	case Blocked:
		why = "a proxy in front of the host refuses this program"
	}
	return fmt.Sprintf("requests are paused until %s: %s", e.Until.UTC().Format(time.RFC3339), why)
}

// Is reports whether target is ErrCircuitOpen.
func (e *ClosedError) Is(target error) bool { return target == ErrCircuitOpen }

// StatusError is the error of a response without a success status.
type StatusError struct {
	Code       int
	Body       string        // its first kilobyte; the title of a page of HTML
	RetryAfter time.Duration // up to an hour; 0: the host did not say
}

// Error returns the status and the text of the body.
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
	case http.StatusRequestTimeout, http.StatusTooEarly, http.StatusTooManyRequests, 499: // nginx: the client closed the connection
		return true
	}
	return e.Code >= http.StatusInternalServerError
}

// Wrong says what is wrong with a body.
type Wrong string

// What is wrong with bodies.
const (
	Turned      Wrong = "an HTML page of a proxy in front of the host"
	NotAsked    Wrong = "a content type that was not requested"
	NotJSON     Wrong = "no JSON"
	NoBody      Wrong = "no body"
	Truncated   Wrong = "a part of a body"
	NotPacked   Wrong = "a compressed body that cannot be unpacked"
	Encoding    Wrong = "a content encoding that was not requested"
	NotModified Wrong = "no body although no earlier one is known"
)

// ShapeError is the error of a response that is not what its headers say, or not what was
// requested.
type ShapeError struct {
	Code int // the response's status
	Why  Wrong
	Body string // its first kilobyte
}

// Error returns the status and what is wrong.
func (e *ShapeError) Error() string { return fmt.Sprintf("status %d with %s", e.Code, string(e.Why)) }

// LostError is the error of a request without a complete response: the connection failed, or it
// took too long.
type LostError struct {
	Why     string
	Timeout bool
}

// Error returns the reason.
func (e *LostError) Error() string { return e.Why }
