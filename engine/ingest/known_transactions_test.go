package ingest

import (
	"errors"
	"math/rand/v2"
	"slices"
	"testing"
)

// TestAFilterContainsWhatWasAdded, and few false positives.
func TestAFilterContainsWhatWasAdded(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	var f transactionFilter
	if f.may(0) || f.may(7) {
		t.Error("an empty filter has a key")
	}
	keys := make([]uint64, 40_000) // three layers
	for i := range keys {
		keys[i] = rng.Uint64()
		if i%2 == 0 {
			keys[i] = uint64(i) << 56 // unlike real hashes
		}
		f.add(keys[i])
		f.add(keys[i])
	}
	if len(f.layers) != 3 {
		t.Errorf("got %d layers", len(f.layers))
	}
	if i := slices.IndexFunc(keys, func(key uint64) bool { return !f.may(key) }); i >= 0 {
		t.Errorf("key %d of %d is missing: %x", i, len(keys), keys[i])
	}
	wrong := 0
	for range 100_000 {
		if f.may(rng.Uint64()) {
			wrong++
		}
	}
	if wrong > 50 {
		t.Errorf("%d of 100,000 other keys are reported as present", wrong)
	}
}

// TestDaysAreHeldOnceTheyAreAskedForAgain, up to the maximum, and then the most recently used ones.
func TestDaysAreHeldOnceTheyAreAskedForAgain(t *testing.T) {
	var k knownTransactions
	var loaded []int64
	load := func(day int64, add func(uint64)) error {
		loaded = append(loaded, day)
		add(uint64(day))
		return nil
	}
	ask := func(want bool, key uint64, days ...int64) {
		t.Helper()
		if none, err := k.none(days, slices.Values([]uint64{1000, key}), load); err != nil || none != want {
			t.Errorf("key %d of days %d: none is %v, %v", key, days, none, err)
		}
	}
	ask(false, 99, 1) // for the first time
	ask(true, 99, 1)
	ask(false, 1, 1)
	ask(false, 99, 1, 2) // day 2 for the first time
	ask(true, 99, 1, 2)
	ask(false, 2, 1, 2)
	ask(true, 2, 1) // a key of the other day
	k.add([]int64{1, 5}, slices.Values([]uint64{50}))
	ask(false, 50, 1)
	ask(true, 50, 2)
	ask(false, 99, 1, 2, 3, 4, 5) // too many
	if want := []int64{1, 2}; !slices.Equal(loaded, want) {
		t.Errorf("days %d were loaded, want %d", loaded, want)
	}
	for _, day := range []int64{3, 4, 1, 5} { // 2 is the least recently used one
		ask(day == 1, 99, day)
		ask(true, 99, day)
	}
	if k.of(2) != nil || k.of(1) == nil || len(k.days) != mostDaysKnown {
		t.Errorf("%d days are held, of them day 1 %v and day 2 %v", len(k.days), k.of(1) != nil, k.of(2) != nil)
	}
	k.forget()
	ask(false, 99, 1)
	broken := errors.New("broken")
	if _, err := k.none([]int64{1}, slices.Values([]uint64{99}), func(int64, func(uint64)) error { return broken }); !errors.Is(err, broken) || k.of(1) != nil {
		t.Errorf("a day that cannot be loaded: %v", err)
	}
}
