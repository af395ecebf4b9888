package replay

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"pmx/data"
	"pmx/data/chain"
	"pmx/data/sample"
	"pmx/data/testfiles"
	"pmx/data/upstream/fetch"
	"pmx/data/upstream/rpc"
)

// unseen are the faults that a single response does not reveal: different logs, and no sign of it.
// What they add or leave out is found by comparing responses. Stalled bodies are here because they
// would slow down the test.
var unseen = map[string]bool{
	"lagging-node": true, "lost-logs": true, "lost-transactions": true, "empty-range": true, "log-twice": true,
	"unknown-topics": true, "unknown-module": true, "stalled": true,
}

// numbers are the numbers of faults that suit the venue of the test.
var numbers = map[string]int{
	"range-publicnode": 5000, "range-quicknode": 5000, "range-alchemy": 5000, "range-drpc": 5000, "range-ankr": 5000,
	"range-geth": 5000, "range-merkle": 5000, "413": 5000, "range-infura": 30, "batch-limit": 2, "slow": 20,
}

// TestFaultsOfNodesAreSeenOrMended checks that the logs of all blocks, requested range by range
// until each is answered, are those of a node without faults.
func TestFaultsOfNodesAreSeenOrMended(t *testing.T) {
	fills := testfiles.Cases(600, 3_000)
	v := venue(t, sample.Config{Fills: int64(fills), Seed: 3, Chain: true})
	want := allLogs(t, v, Faults{})
	if len(want) < fills {
		t.Fatalf("got %d logs", len(want))
	}
	for _, k := range Kinds() {
		if !k.at("rpc") || unseen[k.Name] {
			continue
		}
		t.Run(k.Name, func(t *testing.T) {
			name := k.Name
			if n, ok := numbers[name]; ok {
				name = fmt.Sprintf("%s:%d", name, n)
			}
			if diff := cmp.Diff(want, allLogs(t, v, Faults{Names: []string{name}, Rate: 0.4})); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// logPlace identifies a log.
type logPlace struct {
	tx    data.Hash
	index int32
}

// allLogs requests all logs of a venue as a follower does, and returns how often each was received.
// The clock advances while somebody waits.
func allLogs(t *testing.T, v *sample.Venue, f Faults) map[logPlace]int {
	t.Helper()
	var mu sync.Mutex
	now := time.Now()
	wait := func(_ context.Context, d time.Duration) error {
		mu.Lock()
		defer mu.Unlock()
		now = now.Add(d)
		return nil
	}
	clock := func() time.Time {
		mu.Lock()
		defer mu.Unlock()
		return now
	}
	s, url := startServer(t, Options{Venue: v, Seed: 5, MaxRange: 1 << 40, Faults: map[string]Faults{"rpc": f}})
	h, err := fetch.New(fetch.Options{
		Name: "node", Base: url + "/rpc", Contact: "ops@example.org", Now: clock, Sleep: wait,
		Budget: fetch.Budget{PerSecond: 1e6, Burst: 1e6, InFlight: 1},
	})
	if err != nil {
		t.Fatal(err)
	}
	defer h.Close()
	c, sizer, d := rpc.New(h), rpc.NewSizer(20_000), chain.NewDecoder(chain.Contracts())
	found := map[logPlace]int{}
	_, last := s.Latest()
	for from, tries := sample.BlockOf(v.Manifest.Start.Unix()), 0; from <= last; tries++ {
		to := min(from+sizer.Blocks()-1, last)
		r, err := c.Logs(t.Context(), from, to, nil, nil)
		var wide *rpc.TooWide
		switch {
		case tries == 5000:
			t.Fatalf("at block %d of %d: %v", from, last, err)
		case errors.As(err, &wide):
			sizer.TooWide(to-from+1, wide)
			continue
		case err != nil:
			until := h.Stats().Until
			_ = wait(t.Context(), max(0, until.Sub(clock())))
			continue
		}
		sizer.Good(r)
		from = to + 1
		err = r.EachLog(func(log []byte) error {
			e, err := d.Decode(log)
			if err == nil {
				found[logPlace{e.Log.Tx, e.Log.Index}]++
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if len(f.Names) > 0 && len(s.Drawn()) == 0 {
		t.Error("the fault was never drawn")
	}
	return found
}
