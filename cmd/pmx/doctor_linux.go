package main

import (
	"fmt"
	"os"
	"syscall"

	"golang.org/x/sys/unix"

	"pmx/engine"
)

// openFilesLimit returns how many files this process may have open.
func openFilesLimit() uint64 {
	var l unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &l); err != nil {
		return 0
	}
	return l.Cur
}

// checkOwner checks that this user owns the data directory and can write to it.
func checkOwner(dir engine.Dir, info os.FileInfo) []finding {
	stat, ok := info.Sys().(*syscall.Stat_t)
	if ok && int(stat.Uid) != os.Geteuid() {
		return []finding{{"data directory", fails, fmt.Sprintf("%s belongs to the user %d, but this is user %d", dir, stat.Uid, os.Geteuid()),
			"run pmx as the user that owns it, or give it to this one with chown -R"}}
	}
	if err := unix.Access(string(dir), unix.W_OK|unix.X_OK); err != nil {
		return []finding{{"data directory", fails, fmt.Sprintf("%s cannot be written to: %v", dir, err), "chmod u+rwx it, and check whether its disk is mounted read-only"}}
	}
	return nil
}

// unsynchronized is the state of a clock that is not synchronised, see adjtimex(2).
const unsynchronized = 5

// checkClock reports whether the clock is synchronised.
func checkClock() finding {
	var t unix.Timex
	state, err := unix.Adjtimex(&t)
	switch {
	case err != nil:
		return finding{"clock", warns, "it is not known whether it is synchronised: " + err.Error(), "check timedatectl"}
	case state == unsynchronized:
		return finding{"clock", warns, "it is not synchronised; the freshness of data and the expiry of keys depend on it", "run chrony or systemd-timesyncd, unless the host of this machine does"}
	}
	return finding{"clock", fine, "it is synchronised", ""}
}
