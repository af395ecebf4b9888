package follow

import (
	"cmp"
	"context"
	"sync"
	"time"

	"github.com/rs/zerolog"
	"golang.org/x/sync/errgroup"

	"pmx/data/upstream/channel"
	"pmx/data/upstream/dataapi"
	"pmx/engine/guard"
	"pmx/rollups/serving"
)

// NewestOptions configure the lane of newest trades. Trades, Final and one of Data and Channel's
// URL are required; zero values mean the defaults.
type NewestOptions struct {
	Trades  *serving.NewestTrades
	Final   func() time.Time // returns the time up to which the facts have all trades; zero: none
	Data    *dataapi.Client  // nil: the list is not used
	Channel channel.Options  // without a URL: only the list is used
	Log     zerolog.Logger
	Now     func() time.Time

	Every  time.Duration // interval at which the channel is checked; 1 s
	Poll   time.Duration // between two requests of the list while the channel is silent; 5 s
	Silent time.Duration // time without a trade after which the channel counts as silent; 30 s
	Rows   int           // number of trades requested from the list; 500
}

// Newest keeps the trades of the last seconds in memory, from the activity channel and, while that
// is silent, from the venue's list. They are shown until the facts have them, and never stored.
type Newest struct {
	o       NewestOptions
	channel *channel.Trades // nil: there is none

	mu     sync.Mutex
	began  time.Time // when Run was called; zero: it was not
	heard  time.Time // when the channel last sent a trade
	polled time.Time // when the list was last requested
	listed time.Time // when the list last answered
	at     time.Time // of the newest trade
	state  NewestStatus
}

// NewestStatus is the status of the lane of newest trades.
type NewestStatus struct {
	Phase    Phase               `json:"state"`
	Coverage serving.NewestState `json:"reception"`
	AsOf     time.Time           `json:"as_of,omitzero"` // of the newest trade, or of the list's last response; zero: none
	Told     int64               `json:"told"`           // trades from the channel
	Listed   int64               `json:"listed"`         // trades from the list only
	Kept     int                 `json:"kept"`           // not final yet, and not too old
	Polls    int64               `json:"polls"`
	Bad      int64               `json:"bad_rows"` // of the list
	Channel  *channel.Stats      `json:"channel,omitempty"`
	Error    string              `json:"error,omitempty"` // of the last request of the list
}

// NewNewest returns the lane; Run follows. It fails if the channel's address is invalid.
func NewNewest(o NewestOptions) (*Newest, error) {
	if o.Now == nil {
		o.Now = time.Now
	}
	o.Every, o.Poll, o.Silent = cmp.Or(o.Every, time.Second), cmp.Or(o.Poll, 5*time.Second), cmp.Or(o.Silent, 30*time.Second)
	o.Rows = cmp.Or(o.Rows, 500)
	n := &Newest{o: o, state: NewestStatus{Phase: Idle}}
	if o.Channel.URL == "" {
		return n, nil
	}
	o.Channel.Name = "newest trades"
	var err error
	n.channel, err = channel.NewTrades(o.Channel, n.told)
	return n, err
}

// Run follows until ctx ends.
func (n *Newest) Run(ctx context.Context) error {
	n.mu.Lock()
	n.began = n.o.Now()
	n.mu.Unlock()
	var group errgroup.Group
	if n.channel != nil {
		guard.InGroup(&group, func() error { return n.channel.Run(ctx) })
	}
	guard.InGroup(&group, func() error { return n.watch(ctx) })
	if err := guard.Repanic(group.Wait()); ctx.Err() == nil {
		return err
	}
	return nil
}

// watch drops final trades, and requests the list while the channel is silent.
func (n *Newest) watch(ctx context.Context) error {
	t := time.NewTicker(n.o.Every)
	defer t.Stop()
	for {
		n.o.Trades.Final(unixOrZero(n.o.Final()))
		if n.pollDue() {
			n.poll(ctx)
		}
		n.o.Trades.SetCoverage(n.coverage())
		select {
		case <-t.C:
		case <-ctx.Done():
			return nil
		}
	}
}

func unixOrZero(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.Unix()
}

// told adds a trade of the channel.
func (n *Newest) told(t channel.Trade) {
	now := n.o.Now()
	n.o.Trades.Add(serving.NewestTrade{Wallet: t.Wallet, Condition: t.Condition, Token: t.Token, Side: t.Side, Shares: t.Shares, Price: t.Price, Tx: t.Tx, At: t.At,
		Received: now, Source: serving.NewestOfChannel})
	n.mu.Lock()
	defer n.mu.Unlock()
	n.heard = now
	n.state.Told++
	n.notice(t.At)
}

// notice records the time of a trade, unix seconds.
func (n *Newest) notice(at int64) {
	if t := time.Unix(at, 0).UTC(); t.After(n.at) {
		n.at = t
	}
}

// pollDue reports whether the list is due to be requested, and records the request.
func (n *Newest) pollDue() bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	now := n.o.Now()
	due := n.o.Data != nil && !n.speaks(now) && now.Sub(n.polled) >= n.o.Poll
	if due {
		n.polled = now
	}
	return due
}

// speaks reports whether the channel delivered something recently.
func (n *Newest) speaks(now time.Time) bool {
	return !n.heard.IsZero() && now.Sub(n.heard) < n.o.Silent
}

// poll requests the list.
func (n *Newest) poll(ctx context.Context) {
	trades, bad, err := n.o.Data.Newest(ctx, n.o.Rows)
	if ctx.Err() != nil {
		return
	}
	now := n.o.Now()
	added := int64(0)
	for i := len(trades) - 1; i >= 0; i-- { // the oldest first
		t := &trades[i]
		if n.o.Trades.Add(serving.NewestTrade{Wallet: t.Wallet, Condition: t.Condition, Token: t.Token, Side: t.Side, Shares: t.Shares, Price: t.Price, Tx: t.Tx, At: t.At,
			Received: now, Source: serving.NewestOfList}) {
			added++
		}
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	s := &n.state
	s.Polls++
	if err != nil {
		if s.Error == "" {
			n.o.Log.Warn().Err(err).Msg("the list of newest trades could not be read")
		}
		s.Error = err.Error()
		return
	}
	s.Error, n.listed = "", now
	s.Listed += added
	s.Bad += bad
	if len(trades) > 0 {
		n.notice(trades[0].At)
	}
}

// coverage returns which sources give trades. Neither counts as silent until it has had enough
// time.
func (n *Newest) coverage() serving.NewestCoverage {
	n.mu.Lock()
	defer n.mu.Unlock()
	now := n.o.Now()
	switch last := later(n.heard, n.listed); {
	case n.speaks(now):
		return serving.NewestCoverage{State: serving.NewestLive}
	case !n.listed.IsZero() && now.Sub(n.listed) < n.o.Silent:
		return serving.NewestCoverage{State: serving.NewestPolled}
	default:
		return serving.NewestCoverage{State: serving.NewestSilent, Since: last}
	}
}

// stalledNewest is the time without data from either source after which the lane counts as stalled.
const stalledNewest = 5 * time.Minute

// Status returns the lane's status.
func (n *Newest) Status() NewestStatus {
	covered, now := n.coverage(), n.o.Now()
	n.mu.Lock()
	defer n.mu.Unlock()
	s := n.state
	s.Coverage, s.Kept, s.AsOf = covered.State, n.o.Trades.Len(), later(n.at, n.listed.UTC())
	if covered.State == serving.NewestSilent && !n.began.IsZero() && now.Sub(later(n.began, covered.Since)) >= stalledNewest {
		s.Phase = Stalled
	}
	if n.channel != nil {
		c := n.channel.Stats()
		s.Channel = &c
	}
	return s
}

// Tell returns the lane's status for pages and metrics.
func (s *NewestStatus) Tell() serving.Source {
	out := serving.Source{
		Name: newestName, State: stateOf(s.Phase), AsOf: s.AsOf, Changed: s.AsOf, Rows: s.Told + s.Listed, Requests: s.Polls, Unknown: s.Bad, Shown: true,
		Bounds: [4]time.Duration{2 * time.Minute, 10 * time.Minute, time.Hour, 24 * time.Hour},
	}
	if s.Channel != nil {
		addChannel(&out, s.Channel)
	}
	if s.Error != "" {
		out.Problem = "The channel of newest trades is silent, and the venue's list of trades cannot be read; it is tried again. Facts are not affected."
	}
	return out
}

// newestName is the lane's name.
const newestName = "newest"
