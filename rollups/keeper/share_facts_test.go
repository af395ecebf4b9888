package keeper

import (
	"errors"
	"fmt"
	"slices"
	"testing"

	"pmx/engine/guard"
	"pmx/rollups/serving"
)

// readFacts passes n facts on, the number of each in its time and its batch, and ends with err.
func readFacts(n int, err error) func(add adder) error {
	return func(add adder) error {
		for i := range n {
			f := serving.Fill{TS: int64(i)} // the next one has the same place
			if err := add(int64(i), &f); err != nil {
				return fmt.Errorf("read: %w", err)
			}
		}
		return err
	}
}

// seenFacts is a build that notes which facts it gets, and how it ended.
type seenFacts struct {
	got   []int64
	ended error
	fails func(n int) error // after n facts; nil: never
}

func (s *seenFacts) build(facts func(add adder) error) error {
	s.ended = facts(func(batch int64, f *serving.Fill) error {
		if batch != f.TS {
			return fmt.Errorf("fact %d came with batch %d", f.TS, batch)
		}
		if s.got = append(s.got, batch); s.fails != nil {
			return s.fails(len(s.got))
		}
		return nil
	})
	return s.ended
}

// TestFactsAreSharedByBuilds: each gets all of them in order, whatever their number and however slow the other is.
func TestFactsAreSharedByBuilds(t *testing.T) {
	for _, n := range []int{0, 1, factsShared, 20*factsShared + 7} {
		var want []int64
		for i := range n {
			want = append(want, int64(i))
		}
		var a, b seenFacts
		if err := shareFacts(readFacts(n, nil), a.build, b.build); err != nil || !slices.Equal(a.got, want) || !slices.Equal(b.got, want) {
			t.Errorf("%d facts: %d and %d, %v", n, len(a.got), len(b.got), err)
		}
	}
}

// TestBuildsOfAReadingThatFailsFail: none takes what came so far for all facts. A build that fails ends the reading and the other build.
func TestBuildsOfAReadingThatFailsFail(t *testing.T) {
	why := errors.New("the disk is full")
	const many = 100 * factsShared
	var a, b seenFacts
	if err := shareFacts(readFacts(many, why), a.build, b.build); !errors.Is(err, why) || !errors.Is(a.ended, why) || !errors.Is(b.ended, why) || err.Error() != why.Error() {
		t.Errorf("reading fails: %v; the builds: %v, %v", err, a.ended, b.ended)
	}
	for _, at := range []int{1, factsShared, 3 * factsShared} {
		a, b = seenFacts{}, seenFacts{fails: func(n int) error {
			if n == at {
				return why
			}
			return nil
		}}
		if err := shareFacts(readFacts(many, nil), a.build, b.build); !errors.Is(err, why) || err.Error() != why.Error() || !errors.Is(a.ended, errBuildEnded) || len(a.got) == many {
			t.Errorf("a build fails at %d: %v; the other one: %v after %d facts", at, err, a.ended, len(a.got))
		}
	}
	a = seenFacts{}
	if err := shareFacts(readFacts(many, nil), a.build, func(func(add adder) error) error { return nil }); !errors.Is(err, errBuildEnded) || !errors.Is(a.ended, errBuildEnded) {
		t.Errorf("a build that wants no facts: %v; the other one: %v", err, a.ended)
	}
}

// TestAPanicOfABuildIsItsCallers, and so is one of the reading.
func TestAPanicOfABuildIsItsCallers(t *testing.T) {
	ends := func(read func(add adder) error, b seenFacts) (cause any, other error) {
		var a seenFacts
		defer func() { cause, other = recover(), a.ended }()
		err := shareFacts(read, a.build, b.build)
		t.Errorf("it ended with %v", err)
		return nil, nil
	}
	const many = (chunksWaiting + 2) * factsShared // more than can wait: else all may be read before a build begins
	for i, of := range []func() (any, error){
		func() (any, error) {
			return ends(readFacts(many, nil), seenFacts{fails: func(int) error { panic("here") }})
		},
		func() (any, error) { return ends(func(adder) error { panic("here") }, seenFacts{}) },
	} {
		cause, other := of()
		if p, ok := cause.(*guard.Panic); !ok || p.Value != "here" || other == nil {
			t.Errorf("%d: %v; the other build: %v", i, cause, other)
		}
	}
}
