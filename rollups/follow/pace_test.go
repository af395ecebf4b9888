package follow

import (
	"math/rand/v2"
	"slices"
	"sort"
	"testing"
	"time"
)

// TestHeadIsSeenSoonWithFewRequests than it moves: 1.25 times as often if it moves as
// regularly as blocks are made.
func TestHeadIsSeenSoonWithFewRequests(t *testing.T) {
	const second = time.Second
	for name, c := range map[string]struct {
		move  func(r *rand.Rand) time.Duration // to the next
		looks float64                          // for each at most
		p99   time.Duration
	}{
		"every block":        {func(*rand.Rand) time.Duration { return 3 * second / 2 }, 1.35, 300 * time.Millisecond},
		"every two seconds":  {func(*rand.Rand) time.Duration { return 2 * second }, 1.35, 300 * time.Millisecond},
		"blocks that jitter": {func(r *rand.Rand) time.Duration { return 7*second/5 + some(r, second/5) }, 1.4, 700 * time.Millisecond},
		"at any time":        {func(r *rand.Rand) time.Duration { return second + some(r, 5*second) }, 6.5, 2 * second},
	} {
		t.Run(name, func(t *testing.T) {
			r := rand.New(rand.NewPCG(1, 2))
			now := time.Date(2026, 11, 20, 0, 0, 0, 0, time.UTC)
			var moves []time.Time
			for at := now; len(moves) < 2000; moves = append(moves, at) {
				at = at.Add(c.move(r))
			}
			var p pace
			var late []time.Duration
			looks := 0
			for seen := 0; seen < len(moves); looks++ {
				n := sort.Search(len(moves), func(i int) bool { return moves[i].After(now) })
				for ; seen < n; seen++ {
					if seen > 20 { // it has learned
						late = append(late, now.Sub(moves[seen]))
					}
				}
				p.saw(int64(n)+1, now)
				if !p.due.After(now) {
					t.Fatalf("the next look is %s after this one", p.due.Sub(now))
				}
				now = p.due.Add(some(r, 20*time.Millisecond))
			}
			slices.Sort(late)
			if p99 := late[len(late)*99/100]; p99 > c.p99 || float64(looks)/float64(len(moves)) > c.looks {
				t.Errorf("%d looks for %d moves, of which one in a hundred was seen after %s", looks, len(moves), p99)
			}
		})
	}
}

// TestLooksAsOftenAsAskedFor, whatever the head does, if the operator sets the interval.
func TestLooksAsOftenAsAskedFor(t *testing.T) {
	p := pace{every: 2 * time.Second}
	now := time.Date(2026, 11, 20, 0, 0, 0, 0, time.UTC)
	for i := range int64(50) {
		p.saw(1000+i/3*2, now)
		if got := p.due.Sub(now); got != 2*time.Second {
			t.Fatal(got)
		}
		now = p.due
	}
	if least, most := p.usual(); least != 2 || most != 2 {
		t.Error(least, most)
	}
}

// TestAHeadThatDoesNotMoveIsPolledLessOften often.
func TestAHeadThatDoesNotMoveIsPolledLessOften(t *testing.T) {
	now := time.Date(2026, 11, 20, 0, 0, 0, 0, time.UTC)
	var p pace
	for i := range int64(40) {
		p.saw(100+i, now)
		now = now.Add(3 * time.Second / 2)
	}
	stopped, looks := now, 0
	for ; now.Sub(stopped) < 10*time.Minute; looks++ {
		p.saw(139, now)
		now = p.due
	}
	if looks > 400 { // every two seconds would be 300
		t.Errorf("%d looks in ten minutes", looks)
	}
	p.saw(500, now) // many blocks at once do not show how it moves
	if _, most := p.usual(); most != 1 {
		t.Error(most)
	}
	if p.due.Sub(now) > 2*time.Second {
		t.Error(p.due.Sub(now))
	}
}

func some(r *rand.Rand, most time.Duration) time.Duration {
	return time.Duration(r.Int64N(int64(most)))
}
