package access

import (
	"cmp"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"io"
	"net/netip"
	"sync/atomic"
	"time"
)

// Prefix starts every API key; 43 base64url characters of 256 random bits follow.
const Prefix = "pmx_"

// SecretLen is the length of an API key in bytes.
const SecretLen = len(Prefix) + 43

// Hash is the SHA-256 of an API key: all that is ever stored of it.
type Hash = [sha256.Size]byte

// NewSecret makes a key out of 256 bits read from random and returns its hash. The secret is to be
// shown once and kept nowhere.
func NewSecret(random io.Reader) (secret string, hash Hash, err error) {
	var bits [32]byte
	if _, err := io.ReadFull(random, bits[:]); err != nil {
		return "", Hash{}, fmt.Errorf("make an API key: %w", err)
	}
	secret = Prefix + base64.RawURLEncoding.EncodeToString(bits[:])
	return secret, sha256.Sum256([]byte(secret)), nil
}

// HashOf returns the hash of a presented key; false if it does not have the form of one, so that
// nothing needs to be looked up.
func HashOf(secret []byte) (Hash, bool) {
	if len(secret) != SecretLen || string(secret[:len(Prefix)]) != Prefix {
		return Hash{}, false
	}
	return sha256.Sum256(secret), true
}

// ShortID names a key in listings and logs: the first 8 hex digits of its hash.
func ShortID(h Hash) string { return hex.EncodeToString(h[:4]) }

// Key is one known API key with its running window. Its tier and state follow
// the store; the window survives both.
type Key struct {
	hash    Hash
	id      string
	tier    atomic.Uint32
	revoked atomic.Bool
	expires atomic.Int64               // unix seconds from which it is not valid; 0: it stays so
	window  atomic.Uint64              // minute << 32 | requests in it
	rate    atomic.Int64               // requests a minute; 0: those of its tier
	from    atomic.Uint64              // fingerprint of the last client address that used it
	addr    atomic.Pointer[netip.Addr] // that address; nil: none so far

	unsaved [maxEndpoints + 1]atomic.Int64 // requests not yet written to the store, by endpoint
}

// ID is the key's short id.
func (k *Key) ID() string { return k.id }

// Tier is the key's tier as of the last refresh.
func (k *Key) Tier() Tier { return Tier(k.tier.Load()) }

// OwnRate is the limit that the key has of its own, in requests a minute; 0: it has that of its tier.
func (k *Key) OwnRate() int { return int(k.rate.Load()) }

// limit is how many requests a minute the key may make.
func (k *Key) limit() int { return cmp.Or(k.OwnRate(), k.Tier().Caps().Rate) }

// lastFrom is the address that the key was last used from, as text; "": it is not known.
func (k *Key) lastFrom() string {
	addr := k.addr.Load()
	if addr == nil || !addr.IsValid() {
		return ""
	}
	return addr.Unmap().WithZone("").String()
}

// expired reports whether the key has ended by itself.
func (k *Key) expired(now time.Time) bool {
	at := k.expires.Load()
	return at > 0 && now.Unix() >= at
}

// Window is what the rate limiter decided about one request.
type Window struct {
	OK        bool
	Limit     int
	Remaining int
	ResetIn   int   // whole seconds until the next window, 1 to 60
	ResetAt   int64 // unix seconds of the next window
}

// window seconds and their name in the RateLimit headers.
const windowSeconds = 60

// Take counts one request at time now against the key's fixed window, which is
// aligned to the minute. Requests that were begun in a minute and come behind the first
// of the next count there; a clock that was set back further begins its window again.
// endpoint is the place of the endpoint among the gate's names, from 1; 0 for none.
func (k *Key) Take(now time.Time, endpoint int) Window {
	k.unsaved[endpoint].Add(1)
	sec := now.Unix()
	limit := uint64(k.limit())
	for {
		old := k.window.Load()
		minute, used := old>>32, old&0xffffffff
		if current := uint64(sec / windowSeconds); otherMinute(int64(minute), int64(current)) {
			minute, used = current, 0
		}
		w := Window{Limit: int(limit), ResetAt: int64(minute+1) * windowSeconds}
		w.ResetIn = int(max(1, min(windowSeconds, w.ResetAt-sec)))
		if used >= limit {
			k.window.CompareAndSwap(old, minute<<32|used)
			return w
		}
		if k.window.CompareAndSwap(old, minute<<32|(used+1)) {
			w.OK, w.Remaining = true, int(limit-used-1)
			return w
		}
	}
}

// otherMinute reports whether what was counted in the minute had is over at now: that minute is
// past, or lies further ahead than a request that overtook another explains.
func otherMinute(had, now int64) bool { return had < now || had > now+1 }

// lastUsed is the minute of the key's latest request.
func (k *Key) lastUsed() time.Time {
	return time.Unix(int64(k.window.Load()>>32)*windowSeconds, 0).UTC()
}
