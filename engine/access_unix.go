//go:build unix

package engine

import (
	"errors"
	"io/fs"
	"os"
	"os/user"
	"path/filepath"
	"strconv"
	"syscall"

	"golang.org/x/sys/unix"
)

// CheckAccess returns a *ForeignError if the directory, or a folder above it that is closed to this
// user, belongs to another one. It returns nil if this user may use it, if it does not exist, and if
// something else is wrong with it.
func (d Dir) CheckAccess() error {
	path, rights := string(d), uint32(unix.R_OK|unix.W_OK|unix.X_OK)
	info, err := os.Stat(path)
	for errors.Is(err, fs.ErrPermission) && path != filepath.Dir(path) {
		path, rights = filepath.Dir(path), unix.X_OK
		info, err = os.Stat(path)
	}
	if err != nil {
		return nil // what uses the directory says more
	}
	stat, ok := info.Sys().(*syscall.Stat_t)
	if !ok || int(stat.Uid) == os.Geteuid() || unix.Faccessat(unix.AT_FDCWD, path, rights, unix.AT_EACCESS) == nil {
		return nil
	}
	return &ForeignError{Dir: d, Closed: path, Owner: userName(int(stat.Uid)), User: userName(os.Geteuid())}
}

// userName returns the name of a user, or the number of one that has none.
func userName(id int) string {
	number := strconv.Itoa(id)
	if u, err := user.LookupId(number); err == nil {
		return u.Username
	}
	return number
}
