package access_test

import (
	"context"
	"crypto/rand"
	"encoding/base64"
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/rs/zerolog"
	"go.uber.org/goleak"

	"pmx/engine/control/record"
	"pmx/http/access"
	"pmx/http/api/apitest"
	"pmx/http/wire"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var noon = time.Date(2026, 3, 14, 12, 0, 0, 0, time.UTC)

var home = netip.MustParseAddr("192.0.2.1")

func newGate(t *testing.T, store access.KeyStore) *access.Gate {
	t.Helper()
	g, err := access.NewGate(t.Context(), store, zerolog.Nop())
	if err != nil {
		t.Fatal(err)
	}
	return g
}

func TestTiers(t *testing.T) {
	want := map[string]access.Caps{
		"free":     {Rate: 30, HistoryDays: 30, Rows: 20, Compare: 1},
		"explorer": {Rate: 300, HistoryDays: 180, Rows: 50, Compare: 2},
		"trader":   {Rate: 1000, HistoryDays: 365, Rows: 200, Compare: 3, Export: true},
		"alpha":    {Rate: 100000, HistoryDays: 0, Rows: 1000, Compare: 10, Export: true},
	}
	for name, caps := range want {
		tier, err := access.ParseTier(name)
		if err != nil || tier.String() != name || tier.Caps() != caps {
			t.Errorf("%s: tier = %v, tier.Caps() = %+v, err = %v", name, tier, tier.Caps(), err)
		}
	}
	if _, err := access.ParseTier(""); err == nil {
		t.Error("Nobody is a tier that keys can have")
	}
	for _, tier := range append(access.Tiers(), access.Nobody) {
		available, locked := tier.Sections()
		if len(available)+len(locked) != 13 || slices.Contains(locked, wire.Export) == tier.Caps().Export {
			t.Errorf("%s: available = %v, locked = %v", tier, available, locked)
		}
	}
}

func TestSecretsHave256BitsAndTheirForm(t *testing.T) {
	secret, hash, err := access.NewSecret(rand.Reader)
	if err != nil || len(secret) != access.SecretLen || secret[:4] != "pmx_" {
		t.Fatalf("secret = %q, err = %v", secret, err)
	}
	if bits, err := base64.RawURLEncoding.DecodeString(secret[4:]); err != nil || len(bits) != 32 {
		t.Errorf("%d bytes, %v", len(bits), err)
	}
	if again, ok := access.HashOf([]byte(secret)); !ok || again != hash || access.ShortID(hash) != fmt.Sprintf("%x", hash[:4]) {
		t.Error("the hash of a secret is not the one it was made with")
	}
	if _, ok := access.HashOf([]byte(secret[1:] + "x")); ok {
		t.Error("a key without its prefix was accepted")
	}
}

func TestVerdicts(t *testing.T) {
	store := &apitest.Store{}
	good, gone := store.Issue(access.Free, 1), store.Issue(access.Alpha, 2)
	store.Change(gone, func(r *record.Key) { r.Revoked = true })
	last, over, both := store.Issue(access.Free, 3), store.Issue(access.Free, 4), store.Issue(access.Free, 5)
	store.Change(last, func(r *record.Key) { r.Expires = noon.Unix() + 1 })
	store.Change(over, func(r *record.Key) { r.Expires = noon.Unix() })
	store.Change(both, func(r *record.Key) { r.Expires, r.Revoked = noon.Unix(), true })
	g := newGate(t, store)
	unknown, _, _ := access.NewSecret(rand.Reader)
	for secret, want := range map[string]access.Verdict{
		good: access.Allowed, gone: access.Revoked, last: access.Allowed, over: access.Expired, both: access.Revoked, unknown: access.Invalid, "": access.Missing, "pmx_short": access.Invalid,
	} {
		k, got := g.Check([]byte(secret), home, noon)
		if got != want || (k != nil) != (want == access.Allowed) {
			t.Errorf("%q: verdict %d, want %d", secret, got, want)
		}
	}
}

func TestChangesInTheStoreTakeEffect(t *testing.T) {
	store := &apitest.Store{}
	secret := store.Issue(access.Free, 1)
	g := newGate(t, store)
	k, _ := g.Check([]byte(secret), home, noon)
	for range 30 {
		k.Take(noon, 0)
	}
	if w := k.Take(noon, 0); w.OK {
		t.Error("a free key has 30 requests")
	}
	store.Change(secret, func(r *record.Key) { r.Tier = "explorer" })
	if err := g.Refresh(t.Context()); err != nil {
		t.Fatal(err)
	}
	if w := k.Take(noon, 0); !w.OK || w.Limit != 300 || w.Remaining != 269 {
		t.Errorf("a raised key keeps its window: %+v", w)
	}
	store.Change(secret, func(r *record.Key) { r.Revoked = true })
	if err := g.Refresh(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, v := g.Check([]byte(secret), home, noon); v != access.Revoked {
		t.Errorf("verdict %d", v)
	}
}

// pollSignal is a store that signals every poll.
type pollSignal struct {
	*apitest.Store
	polled chan struct{}
}

func (s pollSignal) Revision(ctx context.Context) (int64, error) {
	select {
	case s.polled <- struct{}{}:
	default:
	}
	return s.Store.Revision(ctx)
}

func TestRunNoticesChangesAndSavesAtTheEnd(t *testing.T) {
	store := &apitest.Store{}
	signal := pollSignal{store, make(chan struct{})}
	g := newGate(t, signal)
	secret := store.Issue(access.Alpha, 1)
	ctx, stop := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- g.Run(ctx) }()
	<-signal.polled // this poll sees the change
	<-signal.polled // this one comes after the change took effect
	k, v := g.Check([]byte(secret), home, noon)
	if v != access.Allowed {
		t.Fatalf("a new key is not known after a poll: verdict %d", v)
	}
	k.Take(noon.Add(59*time.Second), 0)
	k.Take(noon.Add(59*time.Second), 0)
	stop()
	if err := <-done; err != nil {
		t.Error(err)
	}
	if len(store.Uses) != 1 || store.Uses[0].Requests != 2 || !store.Uses[0].LastUsed.Equal(noon) {
		t.Errorf("saved %+v", store.Uses)
	}
}

func TestAFailingStoreKeepsTheLastKeysAndLosesNoUsage(t *testing.T) {
	store := &apitest.Store{}
	secret := store.Issue(access.Alpha, 1)
	g := newGate(t, store)
	k, _ := g.Check([]byte(secret), home, noon)
	k.Take(noon, 0)
	store.Err = errors.New("disk is gone")
	if g.Refresh(t.Context()) == nil || g.Save(t.Context()) == nil {
		t.Error("the failure was not returned")
	}
	if _, v := g.Check([]byte(secret), home, noon); v != access.Allowed {
		t.Errorf("verdict %d", v)
	}
	store.Err = nil
	if err := g.Save(t.Context()); err != nil || len(store.Uses) != 1 || store.Uses[0].Requests != 1 {
		t.Errorf("saved %+v, %v", store.Uses, err)
	}
}

func TestWindowsAreAlignedToTheMinute(t *testing.T) {
	store := &apitest.Store{}
	secret := store.Issue(access.Free, 1)
	k, _ := newGate(t, store).Check([]byte(secret), home, noon)
	take := func(n int, at time.Time) (w access.Window) {
		for range n {
			w = k.Take(at, 0)
		}
		return w
	}
	edge := noon.Add(time.Minute)
	if w := take(30, edge.Add(-time.Nanosecond)); !w.OK || w.Remaining != 0 || w.ResetIn != 1 || w.ResetAt != edge.Unix() {
		t.Errorf("30th request: %+v", w)
	}
	if w := take(1, edge.Add(-time.Nanosecond)); w.OK || w.ResetIn != 1 {
		t.Errorf("31st request: %+v", w)
	}
	if w := take(1, edge); !w.OK || w.Remaining != 29 || w.ResetIn != 60 {
		t.Errorf("first of the next minute: %+v", w)
	}
	if w := take(1, edge.Add(-time.Second)); !w.OK || w.Remaining != 28 || w.ResetIn != 60 {
		t.Errorf("a clock that steps back stays in the later window: %+v", w)
	}
	if w := take(1, edge.Add(90*time.Second)); w.ResetIn != 30 || w.Remaining != 29 {
		t.Errorf("in the middle of a minute: %+v", w)
	}
}

func TestConcurrentTakesNeverExceedTheLimit(t *testing.T) {
	store := &apitest.Store{}
	secret := store.Issue(access.Trader, 1)
	k, _ := newGate(t, store).Check([]byte(secret), home, noon)
	var taken [8]int
	var all sync.WaitGroup
	for i := range taken {
		all.Go(func() {
			for range 400 {
				if k.Take(noon, 0).OK {
					taken[i]++
				}
			}
		})
	}
	all.Wait()
	sum := 0
	for _, n := range taken {
		sum += n
	}
	if sum != 1000 {
		t.Errorf("%d of 3200 requests were let through, the limit is 1000", sum)
	}
}

func TestFailuresAreLimitedPerAddress(t *testing.T) {
	store := &apitest.Store{}
	used, other := store.Issue(access.Free, 1), store.Issue(access.Free, 2)
	g := newGate(t, store)
	if _, v := g.Check([]byte(used), home, noon); v != access.Allowed {
		t.Fatal(v)
	}
	for i := range access.FailuresPerMinute {
		if _, v := g.Check([]byte("pmx_guess"), home, noon); v != access.Invalid {
			t.Fatalf("guess %d: verdict %d", i, v)
		}
	}
	check := func(what, secret string, addr netip.Addr, at time.Time, want access.Verdict) {
		t.Helper()
		if _, v := g.Check([]byte(secret), addr, at); v != want {
			t.Errorf("%s: verdict %d, want %d", what, v, want)
		}
	}
	check("one guess more", "pmx_guess", home, noon, access.Blocked)
	check("without a key", "", home, noon, access.Blocked)
	check("a right guess", other, home, noon, access.Blocked)
	check("the key in use there", used, home, noon, access.Allowed)
	check("from elsewhere", other, netip.MustParseAddr("192.0.2.2"), noon, access.Allowed)
	check("the next minute", "pmx_guess", home, noon.Add(time.Minute), access.Invalid)
	check("the next minute", other, home, noon.Add(time.Minute), access.Allowed)
}

func TestAnIPv6CustomerIsOneAddress(t *testing.T) {
	g := newGate(t, &apitest.Store{})
	for i := range access.FailuresPerMinute {
		g.Check(nil, netip.MustParseAddr(fmt.Sprintf("2001:db8::%x", i)), noon)
	}
	if _, v := g.Check(nil, netip.MustParseAddr("2001:db8::ffff"), noon); v != access.Blocked {
		t.Errorf("same /64: verdict %d", v)
	}
	if _, v := g.Check(nil, netip.MustParseAddr("2001:db8:0:1::1"), noon); v != access.Missing {
		t.Errorf("next /64: verdict %d", v)
	}
}

// Millions of addresses cannot make the limiter grow, or let everybody through.
func TestFailuresOfManyAddressesAreBounded(t *testing.T) {
	g := newGate(t, &apitest.Store{})
	blocked := 0
	for i := range 200_000 {
		if _, v := g.Check(nil, netip.AddrFrom4([4]byte{10, byte(i >> 16), byte(i >> 8), byte(i)}), noon); v == access.Blocked {
			blocked++
		}
	}
	if blocked < 100_000 {
		t.Errorf("only %d of 200000 addresses were refused", blocked)
	}
}

func TestCheckAndTakeAllocateNothing(t *testing.T) {
	store := &apitest.Store{}
	secret := []byte(store.Issue(access.Alpha, 1))
	g := newGate(t, store)
	if n := testing.AllocsPerRun(100, func() {
		k, _ := g.Check(secret, home, noon)
		k.Take(noon, 0)
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}
