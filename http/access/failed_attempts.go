package access

import (
	"hash/maphash"
	"net/netip"
	"sync"
	"sync/atomic"
	"time"
)

const (
	// FailuresPerMinute is how many failed authentications one client address has per minute before
	// its requests are refused without a look at the key.
	FailuresPerMinute = 60

	addressShards    = 16
	addressesTracked = 4096 // per shard and minute; the rest share one count
)

// addressCounts counts events per client address and minute, up to most. Its memory is bounded:
// addresses beyond the tracked ones share one count.
type addressCounts struct {
	seed   maphash.Seed
	most   int
	full   atomic.Int64 // latest minute in which some address reached the limit
	shards [addressShards]addressShard
}

type addressShard struct {
	mu     sync.Mutex
	minute int64
	counts map[netip.Addr]int
}

func newAddressCounts(most int) *addressCounts {
	f := &addressCounts{seed: maphash.MakeSeed(), most: most}
	for i := range f.shards {
		f.shards[i].counts = map[netip.Addr]int{}
	}
	return f
}

// client reduces an IPv6 address to its /64, which usually belongs to one customer.
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
func (f *addressCounts) fingerprint(a netip.Addr) uint64 {
	octets := client(a).As16() // without the zone of a link-local address
	return maphash.Bytes(f.seed, octets[:]) | 1
}

// count adds n to the count of a in minute and returns the previous count.
func (f *addressCounts) count(a netip.Addr, minute int64, n int) int {
	a = client(a)
	s := &f.shards[maphash.Comparable(f.seed, a)%addressShards]
	s.mu.Lock()
	defer s.mu.Unlock()
	if otherMinute(s.minute, minute) {
		s.minute = minute
		clear(s.counts)
	}
	if _, known := s.counts[a]; !known && len(s.counts) >= addressesTracked {
		a = netip.Addr{}
	}
	had := s.counts[a]
	if n > 0 && had < f.most || n < 0 && had > 0 {
		s.counts[a] = had + n
	}
	if s.counts[a] >= f.most {
		f.full.Store(minute)
	}
	return had
}

// limited reports whether a has reached the limit in this minute. It takes no lock unless some
// address has.
func (f *addressCounts) limited(a netip.Addr, now time.Time) bool {
	minute := now.Unix() / windowSeconds
	return f.full.Load() == minute && f.count(a, minute, 0) >= f.most
}
