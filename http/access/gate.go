package access

import (
	"context"
	"fmt"
	"net/netip"
	"sync/atomic"
	"time"

	"github.com/rs/zerolog"

	"pmx/engine/control/record"
)

// KeyStore is the store of keys. Other processes may change it at any time.
type KeyStore interface {
	// Revision returns a counter that changes with every change of a key. It is cheap.
	Revision(ctx context.Context) (int64, error)
	// Keys returns all keys, including revoked ones.
	Keys(ctx context.Context) ([]record.Key, error)
	// AddUse adds to the usage counters in one transaction.
	AddUse(ctx context.Context, uses []record.Use) error
	// Account returns everything known about a key, with its usage from day since on, YYYY-MM-DD.
	Account(ctx context.Context, hash [32]byte, since string) (record.Account, error)
}

const (
	pollEvery = 250 * time.Millisecond // how soon a change of the keys is noticed
	saveEvery = 15 * time.Second       // how long usage counters may stay in memory
)

// Verdict is the outcome of authentication.
type Verdict uint8

// The verdicts. Blocked means that the client address had too many failures this minute.
const (
	Allowed Verdict = iota
	Missing
	Invalid
	Revoked
	Expired
	Blocked
)

// Gate holds the keys in memory and checks requests against them. Check and Take need no lock, and
// allocate only if a key is used from another address than before.
type Gate struct {
	store    KeyStore
	names    atomic.Pointer[[]string] // names of endpoints; the first is for no endpoint
	log      zerolog.Logger
	keys     atomic.Pointer[map[Hash]*Key]
	failures *addressCounts
	revision int64 // of keys; guarded by refreshing
	busy     chan struct{}
}

// NewGate reads the keys of store and returns a gate for them.
func NewGate(ctx context.Context, store KeyStore, log zerolog.Logger) (*Gate, error) {
	g := &Gate{store: store, log: log, failures: newAddressCounts(FailuresPerMinute), revision: -1, busy: make(chan struct{}, 1)}
	g.keys.Store(&map[Hash]*Key{})
	g.names.Store(&[]string{""})
	return g, g.Refresh(ctx)
}

// Refresh loads the keys of the store if they changed since the last call.
func (g *Gate) Refresh(ctx context.Context) error {
	select {
	case g.busy <- struct{}{}:
		defer func() { <-g.busy }()
	case <-ctx.Done():
		return ctx.Err()
	}
	revision, err := g.store.Revision(ctx)
	if err != nil {
		return fmt.Errorf("refresh API keys: %w", err)
	}
	if revision == g.revision {
		return nil
	}
	records, err := g.store.Keys(ctx)
	if err != nil {
		return fmt.Errorf("refresh API keys: %w", err)
	}
	g.keys.Store(merge(*g.keys.Load(), records, g.log))
	g.revision = revision
	return nil
}

// merge returns the table of records. It keeps the Keys that already exist.
func merge(old map[Hash]*Key, records []record.Key, log zerolog.Logger) *map[Hash]*Key {
	keys := make(map[Hash]*Key, len(records))
	for _, r := range records {
		k := old[r.Hash]
		if k == nil {
			k = &Key{hash: r.Hash, id: ShortID(r.Hash)}
		}
		tier, err := ParseTier(r.Tier)
		if err != nil {
			log.Error().Str("key_id", k.id).Err(err).Msg("api_key_ignored")
			continue
		}
		k.tier.Store(uint32(tier))
		k.revoked.Store(r.Revoked)
		k.expires.Store(r.Expires)
		k.rate.Store(r.Rate)
		keys[r.Hash] = k
	}
	return &keys
}

// Run follows changes of the store and saves usage until ctx ends, then saves once more. While the
// store cannot be read, the last keys stay in force.
func (g *Gate) Run(ctx context.Context) error {
	poll, save := time.NewTicker(pollEvery), time.NewTicker(saveEvery)
	defer poll.Stop()
	defer save.Stop()
	failing := false
	for {
		var err error
		select {
		case <-ctx.Done():
			last, cancel := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
			defer cancel()
			return g.Save(last)
		case <-poll.C:
			err = g.Refresh(ctx)
		case <-save.C:
			err = g.Save(ctx)
		}
		if err != nil && !failing && ctx.Err() == nil {
			g.log.Error().Err(err).Msg("api_key_store_unreachable")
		}
		failing = err != nil
	}
}

// Save writes the usage counters that changed since the last call. If that fails, they are written
// by the next call.
func (g *Gate) Save(ctx context.Context) error {
	var uses []record.Use
	var from []*atomic.Int64
	names := *g.names.Load()
	for _, k := range *g.keys.Load() {
		for i := range names {
			if n := k.unsaved[i].Swap(0); n > 0 {
				uses = append(uses, record.Use{Hash: k.hash, LastUsed: k.lastUsed(), From: k.lastFrom(), Endpoint: names[i], Requests: n})
				from = append(from, &k.unsaved[i])
			}
		}
	}
	if len(uses) == 0 {
		return nil
	}
	if err := g.store.AddUse(ctx, uses); err != nil {
		for i, counter := range from {
			counter.Add(uses[i].Requests)
		}
		return fmt.Errorf("save API key usage: %w", err)
	}
	return nil
}

// Check returns the key that belongs to secret. A failure counts against the client address. An
// address with too many failures is Blocked, whatever it sends, except for a key that this address
// was already using. So clients that share an address cannot lock each other out, and guessing a
// key reveals nothing.
func (g *Gate) Check(secret []byte, addr netip.Addr, now time.Time) (*Key, Verdict) {
	verdict := Missing
	if len(secret) > 0 {
		verdict = Invalid
	}
	if hash, ok := HashOf(secret); ok {
		if k := (*g.keys.Load())[hash]; k != nil {
			switch {
			case k.revoked.Load():
				verdict = Revoked
			case k.expired(now):
				verdict = Expired
			default:
				return g.admit(k, addr, now)
			}
		}
	}
	if g.failures.count(addr, now.Unix()/windowSeconds, 1) >= FailuresPerMinute {
		return nil, Blocked
	}
	return nil, verdict
}

func (g *Gate) admit(k *Key, addr netip.Addr, now time.Time) (*Key, Verdict) {
	who := g.failures.fingerprint(addr)
	if k.from.Load() == who {
		return k, Allowed
	}
	if g.failures.limited(addr, now) {
		return nil, Blocked
	}
	k.from.Store(who)
	from := addr // declared here so that only a new address is allocated
	k.addr.Store(&from)
	return k, Allowed
}

// Len returns the number of known keys, including revoked ones.
func (g *Gate) Len() int { return len(*g.keys.Load()) }
