package access

import (
	"net/netip"
	"time"
)

// GuestRate is how many requests a minute one client address may make without a key, if pages are
// open to everybody.
const GuestRate = 120

// Guests counts requests without a key by client address, in fixed minutes. Its memory is bounded
// like that of failed authentications.
type Guests struct{ counts *addressCounts }

// NewGuests returns empty counts.
func NewGuests() *Guests { return &Guests{newAddressCounts(GuestRate)} }

// Take counts one request of a client address at time now in its minute.
func (v *Guests) Take(addr netip.Addr, now time.Time) Window {
	sec := now.Unix()
	minute := sec / windowSeconds
	had := v.counts.count(addr, minute, 1)
	w := Window{OK: had < GuestRate, Limit: GuestRate, Remaining: max(0, GuestRate-had-1), ResetAt: (minute + 1) * windowSeconds}
	w.ResetIn = int(w.ResetAt - sec)
	return w
}
