package access

import (
	"net/netip"
	"time"
)

const (
	// KeyRequestsPerHour is how often one client address may request a key.
	KeyRequestsPerHour = 3

	hourSeconds = 3600
)

// KeyRequests counts requests for keys by client address, in fixed hours. Its memory is bounded
// like that of failed authentications.
type KeyRequests struct{ counts *addressCounts }

// NewKeyRequests returns empty counts.
func NewKeyRequests() *KeyRequests { return &KeyRequests{newAddressCounts(KeyRequestsPerHour)} }

// Take counts one request of a client address at time now. It reports whether it is allowed, and if
// not, after how many seconds it will be.
func (k *KeyRequests) Take(addr netip.Addr, now time.Time) (ok bool, retry int64) {
	if k.counts.count(addr, now.Unix()/hourSeconds, 1) < KeyRequestsPerHour {
		return true, 0
	}
	return false, hourSeconds - now.Unix()%hourSeconds
}

// Return undoes Take for a request that was not stored.
func (k *KeyRequests) Return(addr netip.Addr, now time.Time) {
	k.counts.count(addr, now.Unix()/hourSeconds, -1)
}
