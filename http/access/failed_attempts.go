package access

import (
	"hash/maphash"
	"net/netip"
	"sync"
	"sync/atomic"
	"time"
)

const (
	// FailuresPerMinute is how many failed authentications one client address
	// has per minute before it is refused without a look at its key.
	FailuresPerMinute = 60

	failureShards   = 16
	failuresTracked = 4096 // addresses per shard and minute; the rest share one count
)

// failures counts failed authentications per client address and minute. Its
// memory is bounded: addresses beyond the tracked ones share one count.
type failures struct {
	seed   maphash.Seed
	full   atomic.Int64 // latest minute in which some address reached the limit
	shards [failureShards]failureShard
}

type failureShard struct {
	mu     sync.Mutex
	minute int64
	counts map[netip.Addr]int
}

func newFailures() *failures {
	f := &failures{seed: maphash.MakeSeed()}
	for i := range f.shards {
		f.shards[i].counts = map[netip.Addr]int{}
	}
	return f
}

// client folds an IPv6 address to its /64, which one customer usually holds.
func client(a netip.Addr) netip.Addr {
	a = a.Unmap()
	if a.Is6() {
		if p, err := a.WithZone("").Prefix(64); err == nil {
			return p.Addr()
		}
	}
	return a
}

// fingerprint is a number for a client address, never 0.
func (f *failures) fingerprint(a netip.Addr) uint64 {
	octets := client(a).As16() // without the zone of a link-local address
	return maphash.Bytes(f.seed, octets[:]) | 1
}

// count adds n failures of a at minute and tells whether it was over the limit before.
func (f *failures) count(a netip.Addr, minute int64, n int) bool {
	a = client(a)
	s := &f.shards[maphash.Comparable(f.seed, a)%failureShards]
	s.mu.Lock()
	defer s.mu.Unlock()
	if otherMinute(s.minute, minute) {
		s.minute = minute
		clear(s.counts)
	}
	if _, known := s.counts[a]; !known && len(s.counts) >= failuresTracked {
		a = netip.Addr{}
	}
	had := s.counts[a]
	if n > 0 && had < FailuresPerMinute {
		s.counts[a] = had + n
	}
	if s.counts[a] >= FailuresPerMinute {
		f.full.Store(minute)
	}
	return had >= FailuresPerMinute
}

// limited tells whether a has used up its failures of this minute. It takes no lock
// while no address has.
func (f *failures) limited(a netip.Addr, now time.Time) bool {
	minute := now.Unix() / windowSeconds
	return f.full.Load() == minute && f.count(a, minute, 0)
}
