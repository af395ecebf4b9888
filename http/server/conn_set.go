package server

import (
	"cmp"
	"net"
	"slices"
	"sync"
	"sync/atomic"
)

// maxConns is the maximum number of connections, whatever the system allows: each has some tens of
// kilobytes of buffers.
const maxConns = 16 << 10

// connSet is the set of open connections. It leaves file descriptors for the database, for files
// and for the admin socket. It also reserves some of the connections for those on which a key was
// sent, so that idle ones without a key cannot keep them out. If there are too many, the least
// recently used ones are closed.
type connSet struct {
	most    int // maximum of all
	unkeyed int // maximum of those without a key

	mu      sync.Mutex
	open    map[*timedConn]struct{}
	keyed   int
	next    uint32
	dropped atomic.Uint64
}

// newConnSet limits connections for a process that may have the given number of files open.
func newConnSet(files int) *connSet {
	most := max(2, min(files-min(files/4, 1024), maxConns))
	return &connSet{most: most, unkeyed: most / 2, open: map[*timedConn]struct{}{}}
}

// add adds a connection, and closes others for it; it returns false if all others are in use and
// have keys.
func (s *connSet) add(c *timedConn, tick int64) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.open)-s.keyed >= s.unkeyed || len(s.open) >= s.most {
		s.drop(func(c *timedConn) bool { return !c.keyed.Load() })
	}
	if len(s.open) >= s.most {
		s.drop(func(c *timedConn) bool { return c.waiting.Load() })
	}
	if len(s.open) >= s.most {
		s.dropped.Add(1)
		return false
	}
	s.next++
	c.used.Store(tick<<32 | int64(s.next))
	s.open[c] = struct{}{}
	return true
}

// drop closes at least one, and up to a sixteenth, of the connections for which may returns true:
// those used longest ago.
func (s *connSet) drop(may func(*timedConn) bool) {
	var old []*timedConn
	for c := range s.open {
		if may(c) {
			old = append(old, c)
		}
	}
	slices.SortFunc(old, func(x, y *timedConn) int { return cmp.Compare(x.used.Load(), y.used.Load()) })
	for _, c := range old[:min(len(old), max(1, len(old)/16))] {
		s.forget(c)
		s.dropped.Add(1)
		_ = c.TCPConn.Close() // its reader gets the error
	}
}

func (s *connSet) forget(c *timedConn) {
	if _, there := s.open[c]; !there {
		return
	}
	delete(s.open, c)
	if c.keyed.Load() {
		s.keyed--
	}
}

func (s *connSet) remove(c *timedConn) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.forget(c)
}

// key records that a key was sent on a connection.
func (s *connSet) key(c *timedConn) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, there := s.open[c]; there && !c.keyed.Swap(true) {
		s.keyed++
	}
}

// count returns the number of connections with a key and without, and how many were closed to admit
// others.
func (s *connSet) count() (keyed, unkeyed int, dropped uint64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.keyed, len(s.open) - s.keyed, s.dropped.Load()
}

// keyGiven records that a request on conn had a valid key.
func keyGiven(conn net.Conn) {
	if secure, ok := conn.(*secureConn); ok {
		conn = secure.timed
	}
	if c, ok := conn.(*timedConn); ok && !c.keyed.Load() {
		c.set.key(c)
	}
}
