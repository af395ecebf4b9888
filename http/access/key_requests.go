package access

import (
	"net/netip"
	"time"
)

const (
	// KeyRequestsPerHour is how often one client address may ask for a key.
	KeyRequestsPerHour = 3

	hourSeconds = 3600
)

// KeyRequests counts by client address how often a key was asked for, in fixed hours. Its memory
// is bounded as that of failed authentications is.
type KeyRequests struct{ counts *addressCounts }

// NewKeyRequests returns empty counts.
func NewKeyRequests() *KeyRequests { return &KeyRequests{newAddressCounts(KeyRequestsPerHour)} }

// Take counts one request of a client address at time now, and reports whether it may be made, and if not, in
// how many seconds it may.
func (k *KeyRequests) Take(addr netip.Addr, now time.Time) (ok bool, retry int64) {
	if k.counts.count(addr, now.Unix()/hourSeconds, 1) < KeyRequestsPerHour {
		return true, 0
	}
	return false, hourSeconds - now.Unix()%hourSeconds
}

// Return takes back what Take counted, of a request that was not kept.
func (k *KeyRequests) Return(addr netip.Addr, now time.Time) {
	k.counts.count(addr, now.Unix()/hourSeconds, -1)
}
