package data

import (
	"errors"
	"syscall"
)

// IsNoSpace reports whether err says, by its code, that a disk or a quota is full.
func IsNoSpace(err error) bool {
	return errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT)
}

// NoSpace is the error of a full disk with a sentence: errors.Is finds ENOSPC in it, whatever its
// cause.
type NoSpace struct {
	Text  string
	Cause error // may be nil
}

// Error returns the sentence.
func (e *NoSpace) Error() string { return e.Text }

// Is makes the error match ENOSPC.
func (*NoSpace) Is(target error) bool { return target == syscall.ENOSPC }

// Unwrap returns the cause.
func (e *NoSpace) Unwrap() error { return e.Cause }
