package engine

import "syscall"

// niceness is that of background work: if there is too little processor time, it gets a thirtieth
// of what a request gets.
const niceness = 15

// lowerPriority lowers the priority of the calling thread, and of threads that it makes,
// for good: only a privileged process could raise it again.
func lowerPriority() {
	// Linux gives 20 less the niceness. A system that refuses leaves the thread as
	// it is, which is slower for requests and nothing worse.
	if was, err := syscall.Getpriority(syscall.PRIO_PROCESS, 0); err == nil && 20-was < niceness {
		_ = syscall.Setpriority(syscall.PRIO_PROCESS, 0, niceness)
	}
}
