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

// Prefix is the start of every API key. It is followed by 256 random bits as 43 base64url
// characters.
const Prefix = "pmx_"

// SecretLen is the length of an API key in bytes.
const SecretLen = len(Prefix) + 43

// Hash is the SHA-256 of an API key. Nothing else of a key is stored.
type Hash = [sha256.Size]byte

// NewSecret makes a key from 256 bits read from random and returns its hash. The secret is to be
// shown once and not stored.
func NewSecret(random io.Reader) (secret string, hash Hash, err error) {
	var bits [32]byte
	if _, err := io.ReadFull(random, bits[:]); err != nil {
		return "", Hash{}, fmt.Errorf("make an API key: %w", err)
	}
	secret = Prefix + base64.RawURLEncoding.EncodeToString(bits[:])
	return secret, sha256.Sum256([]byte(secret)), nil
}

// HashOf returns the hash of a key that a client sent; false if it does not have the form of a key,
// so that no lookup is needed.
func HashOf(secret []byte) (Hash, bool) {
	if len(secret) != SecretLen || string(secret[:len(Prefix)]) != Prefix {
		return Hash{}, false
	}
	return sha256.Sum256(secret), true
}

// ShortID identifies a key in listings and logs: the first 8 hex digits of its hash.
func ShortID(h Hash) string { return hex.EncodeToString(h[:4]) }

// Key is one known API key with its current window. Its tier and validity follow the store; the
// window is kept when they change.
type Key struct {
	hash    Hash
	id      string
	tier    atomic.Uint32
	revoked atomic.Bool
	expires atomic.Int64               // Unix seconds from which it is not valid; 0: it does not expire
	window  atomic.Uint64              // minute << 32 | requests in it
	rate    atomic.Int64               // requests a minute; 0: the limit of its tier
	from    atomic.Uint64              // fingerprint of the last client address that used it
	addr    atomic.Pointer[netip.Addr] // that address; nil: none so far

	unsaved [maxEndpoints + 1]atomic.Int64 // requests not yet written to the store, by endpoint
}

// ID returns the key's short id.
func (k *Key) ID() string { return k.id }

// Tier returns the key's tier as of the last refresh.
func (k *Key) Tier() Tier { return Tier(k.tier.Load()) }

// OwnRate returns the key's own limit in requests a minute; 0 if the limit of its tier applies.
func (k *Key) OwnRate() int { return int(k.rate.Load()) }

// limit returns how many requests a minute the key may make.
func (k *Key) limit() int { return cmp.Or(k.OwnRate(), k.Tier().Caps().Rate) }

// lastFrom returns the address that the key was last used from; "" if it is not known.
func (k *Key) lastFrom() string {
	addr := k.addr.Load()
	if addr == nil || !addr.IsValid() {
		return ""
	}
	return addr.Unmap().WithZone("").String()
}

// expired reports whether the key has expired.
func (k *Key) expired(now time.Time) bool {
	at := k.expires.Load()
	return at > 0 && now.Unix() >= at
}

// Window is the decision of the rate limiter about one request.
type Window struct {
	OK        bool
	Limit     int
	Remaining int
	ResetIn   int   // whole seconds until the next window, 1 to 60
	ResetAt   int64 // start of the next window in Unix seconds
}

// windowSeconds is the length of a window, which the RateLimit headers show.
const windowSeconds = 60

// Take counts one request at time now in the key's fixed window, which is aligned to the minute. A
// request that began in one minute but is counted after the first of the next minute counts in the
// next one. If the clock was set back further, the window begins again. endpoint is the index of
// the endpoint among the gate's names, from 1; 0 for none.
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

// otherMinute reports whether counts of the minute had no longer apply in the minute now: had is
// past, or further ahead than can be explained by concurrent requests.
func otherMinute(had, now int64) bool { return had < now || had > now+1 }

// lastUsed returns the minute of the key's latest request.
func (k *Key) lastUsed() time.Time {
	return time.Unix(int64(k.window.Load()>>32)*windowSeconds, 0).UTC()
}
