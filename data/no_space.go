package data

import (
	"errors"
	"syscall"
)

// IsNoSpace tells whether err says, by its code, that a disk or a quota is full.
func IsNoSpace(err error) bool {
	return errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT)
}
