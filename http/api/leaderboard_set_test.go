package api

import (
	"math"
	"testing"
	"time"

	"pmx/rollups/serving"
)

func TestWhenLeaderboardsAreRead(t *testing.T) {
	b := newLeaderboardSets(0)
	v := &encodedSnapshot{snap: &serving.Snapshot{Epoch: 2}}
	check := func(when string, v *encodedSnapshot, due bool, least, most time.Duration) {
		t.Helper()
		wait, got := b.due(v, 10*time.Second)
		if got != due || wait < least || wait > most {
			t.Errorf("%s: due %v in %v, want %v in %v to %v", when, got, wait, due, least, most)
		}
	}
	check("before the first snapshot", nil, false, 0, 0)
	check("for the first time", v, true, 0, 0)
	b.ended, b.took = time.Now(), time.Second
	check("while nobody asks", v, true, leaderboardsIdle-time.Minute, leaderboardsIdle)
	earlier := time.Now().Add(-2 * leaderboardsIdle)
	b.asked.Store(&earlier)
	check("long after somebody asked", v, true, leaderboardsIdle-time.Minute, leaderboardsIdle)
	now := time.Now()
	b.asked.Store(&now)
	check("while somebody asks for what takes a second", v, true, 15*time.Second, 20*time.Second)
	b.took = 0
	check("while somebody asks for what takes no time", v, true, 5*time.Second, 10*time.Second)
	b.newest.Store(&leaderboardSet{epoch: 1})
	check("with an older set", v, true, 5*time.Second, 10*time.Second)
	b.newest.Store(&leaderboardSet{epoch: 2})
	check("with its own set", v, false, 0, 0)
	b.newest.Store(&leaderboardSet{epoch: 2, lineage: 1})
	check("with the set of another database", v, true, 5*time.Second, 10*time.Second)
}

// TestASetOfLeaderboardsHasItsShareOfGosPart as it was at the start, however Go's limit changes;
// without a limit there is none.
func TestASetOfLeaderboardsHasItsShareOfGosPart(t *testing.T) {
	for part, want := range map[int64]int64{0: 0, math.MaxInt64: 0, 1600: 100} {
		if got := newLeaderboardSets(part).bytes; got != want {
			t.Errorf("%d of %d, want %d", got, part, want)
		}
	}
}
