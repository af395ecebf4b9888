package follow_test

import (
	"context"
	"fmt"
	"maps"
	"net/http/httptest"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"pmx/data"
	"pmx/data/upstream/channel"
	"pmx/data/upstream/dataapi"
	"pmx/data/upstream/fetch"
	"pmx/engine/guard"
	"pmx/http/replay"
	"pmx/rollups/follow"
	"pmx/rollups/serving"
)

// newestOf simulates the last hours of a venue, and follows its newest trades.
type newestOf struct {
	t      *testing.T
	played *replay.Server
	trades *serving.NewestTrades
	final  atomic.Int64
	lane   *follow.Newest
	moved  time.Time // when goOn advanced the clock last
}

// followNewest follows; faults are those of the channel from its first connection on.
func followNewest(t *testing.T, change func(o *follow.NewestOptions), faults ...string) *newestOf {
	t.Helper()
	n := &newestOf{t: t, trades: &serving.NewestTrades{}}
	venue := chainOf(t).venue
	start := time.Unix(venue.Matches[len(venue.Matches)/2].At-1, 0)
	var err error
	if n.played, err = replay.New(t.Context(), replay.Options{Venue: venue, Start: start, Tick: 2 * time.Millisecond, Seed: 1}); err != nil {
		t.Fatal(err)
	}
	if len(faults) > 0 {
		if err = n.played.SetFaults("ws", replay.Faults{Rate: 1, Names: faults}); err != nil {
			t.Fatal(err)
		}
	}
	web := httptest.NewServer(n.played.Handler())
	host, err := fetch.New(fetch.Options{Name: "data", Base: web.URL + "/data", Contact: "ops@example.org", Budget: fetch.Budget{PerSecond: 1e4, Burst: 1000, InFlight: 4},
		Sleep: func(ctx context.Context, _ time.Duration) error { return ctx.Err() }})
	if err != nil {
		t.Fatal(err)
	}
	o := follow.NewestOptions{Trades: n.trades, Data: dataapi.New(host), Log: zerolog.Nop(), Every: 2 * time.Millisecond, Poll: 2 * time.Millisecond,
		Final:   func() time.Time { return time.Unix(n.final.Load(), 0) },
		Channel: channel.Options{URL: strings.Replace(web.URL, "http", "ws", 1) + "/rtds", Agent: "pmx", Jitter: func() float64 { return 0.01 }}}
	change(&o)
	if n.lane, err = follow.NewNewest(o); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := guard.Start(func() error { return n.lane.Run(ctx) })
	t.Cleanup(func() {
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
		host.Close()
		n.played.Close()
		web.Close()
	})
	return n
}

// shown returns the current trades by transaction, and the coverage.
func (n *newestOf) shown() (map[data.Hash]serving.NewestTrade, serving.NewestCoverage) {
	n.t.Helper()
	rows, covered := n.trades.Newest(nil, n.final.Load(), data.Hash{}, 1000)
	all := map[data.Hash]serving.NewestTrade{}
	for i, r := range rows {
		if _, twice := all[r.Tx]; twice {
			n.t.Errorf("%s is shown twice", r.Tx)
		}
		all[r.Tx] = r
		if i > 0 && r.At > rows[i-1].At {
			n.t.Error("not the newest first")
		}
	}
	return all, covered
}

// last returns the transactions of the matches between two times of the clock.
func (n *newestOf) last(from, to time.Time) (all []data.Hash) {
	v := n.played.Venue()
	for i := v.FindMatch(from.Unix() + 1); i < v.FindMatch(to.Unix()+1); i++ {
		all = append(all, v.Tx(i))
	}
	return all
}

// has reports whether all of some transactions are shown.
func (n *newestOf) has(want []data.Hash) bool {
	shown, _ := n.shown()
	return len(want) > 0 && !slices.ContainsFunc(want, func(tx data.Hash) bool { _, is := shown[tx]; return !is })
}

// busy advances the clock until there is a match in its last minute.
func (n *newestOf) busy() []data.Hash {
	n.t.Helper()
	for range 10_000 {
		n.played.Clock().Advance(time.Minute)
		now := n.played.Clock().Now()
		if all := n.last(now.Add(-time.Minute), now); len(all) > 0 {
			return all
		}
	}
	n.t.Fatal("the venue has no more trades")
	return nil
}

// goOn calls busy only at intervals, because a venue's day is short.
func (n *newestOf) goOn() {
	n.t.Helper()
	if time.Since(n.moved) >= 50*time.Millisecond {
		n.busy()
		n.moved = time.Now()
	}
}

// Trades of the channel are shown at once, until the facts have them.
func TestTradesOfTheChannelAreShownUntilTheyAreFinal(t *testing.T) {
	n := followNewest(t, func(o *follow.NewestOptions) { o.Data, o.Silent = nil, time.Hour })
	eventually(t, "the channel tells", func() bool { n.goOn(); return n.lane.Status().Told > 0 })
	want := n.busy()
	eventually(t, "a minute's trades", func() bool { return n.has(want) })
	shown, covered := n.shown()
	if got := shown[want[0]]; covered.State != serving.NewestLive || got.Source != serving.NewestOfChannel || got.Token == "" || got.Shares <= 0 || got.Received.IsZero() {
		t.Errorf("covered = %+v, got %+v", covered, got)
	}
	s := n.lane.Status()
	if source := s.Tell(); source.State != serving.SourceIdle || source.Rows != s.Told || !source.Shown || len(source.Hosts) != 1 || source.Hosts[0].State != serving.HostAnswers {
		t.Errorf("source = %+v", source)
	}
	n.final.Store(n.played.Clock().Now().Unix())
	if shown, _ := n.shown(); len(shown) > 0 {
		t.Errorf("%d are shown that the facts have", len(shown))
	}
	eventually(t, "they are forgotten", func() bool { return n.trades.Len() == 0 })
}

// A channel that answers pings but sends no trades is silent. Meanwhile the list is requested, and
// trades from both are shown once.
func TestTheListIsPolledWhileTheChannelIsSilent(t *testing.T) {
	n := followNewest(t, func(o *follow.NewestOptions) {
		o.Silent = 300 * time.Millisecond
		o.Channel.Silence = 100 * time.Millisecond
	})
	eventually(t, "the channel tells", func() bool { n.goOn(); return n.lane.Status().Told > 0 })
	want := n.busy()
	eventually(t, "trades before the silence", func() bool { return n.has(want) })
	before := n.lane.Status().Channel.Connects
	if err := n.played.SetFaults("ws", replay.Faults{Rate: 1, Names: []string{"ws-silence"}}); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the list is asked", func() bool {
		_, covered := n.shown()
		return covered.State == serving.NewestPolled && n.lane.Status().Channel.Connects > before+1
	})
	now := n.busy()
	eventually(t, "trades of the list", func() bool { return n.has(now) })
	if shown, _ := n.shown(); shown[now[0]].Source != serving.NewestOfList {
		t.Errorf("shown[now[0]] = %+v", shown[now[0]])
	}
	if err := n.played.SetFaults("data", replay.Faults{Rate: 1, Names: []string{"500"}}); err != nil {
		t.Fatal(err)
	}
	eventually(t, "silence is told", func() bool {
		_, covered := n.shown()
		s := n.lane.Status()
		return covered.State == serving.NewestSilent && !covered.Since.IsZero() && s.Error != "" && s.Tell().Problem != ""
	})
	if err := n.played.SetFaults("ws", replay.Faults{}); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the channel tells again", func() bool { n.goOn(); _, covered := n.shown(); return covered.State == serving.NewestLive })
}

// Trades that the channel repeats in several forms are shown once, and invalid ones are not shown.
func TestTradesOfAnOddChannel(t *testing.T) {
	for _, fault := range []string{"ws-twice", "ws-bad-frames", "ws-unknown"} {
		n := followNewest(t, func(o *follow.NewestOptions) { o.Data, o.Silent = nil, time.Hour }, fault)
		eventually(t, "trades in spite of "+fault, func() bool { n.goOn(); return n.lane.Status().Told > 0 })
		eventually(t, "it is counted", func() bool {
			n.goOn()
			s := n.lane.Status()
			return s.Channel.Bad+total(s.Channel.Unknown) > 0 && (fault != "ws-bad-frames" || s.Channel.Bad > 0)
		})
		n.shown() // fails where one is there twice
	}
}

func total(counts map[string]int64) (n int64) {
	for v := range maps.Values(counts) {
		n += v
	}
	return n
}

// If neither source has trades, the lane is stalled.
func TestNewestTradesThatNobodyTellsAreStalled(t *testing.T) {
	var ahead atomic.Int64
	n := followNewest(t, func(o *follow.NewestOptions) {
		o.Data = nil
		o.Now = func() time.Time { return time.Now().Add(time.Duration(ahead.Load())) }
	})
	if s := n.lane.Status(); s.Phase == follow.Stalled || s.Coverage != serving.NewestSilent {
		t.Errorf("%+v", s)
	}
	eventually(t, "it runs", func() bool { ahead.Add(int64(time.Minute)); return n.lane.Status().Phase == follow.Stalled })
	s := n.lane.Status()
	if got := fmt.Sprint(s.Tell().State); got != "stalled" {
		t.Error(got)
	}
}
