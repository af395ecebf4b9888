//go:build !unix

package engine

// CheckAccess checks nothing on this system.
func (d Dir) CheckAccess() error { return nil }

// userName returns the name of a user, which is not known on this system.
func userName(int) string { return "" }
