package follow

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/rs/zerolog"
	"golang.org/x/sync/errgroup"

	"pmx/data"
	"pmx/data/upstream/channel"
	"pmx/data/upstream/clob"
	"pmx/engine/guard"
)

// Quoter receives quotes; rollups/keeper implements it.
type Quoter interface {
	// Quote shows quotes of open markets, and returns how many it did not know.
	Quote(ctx context.Context, quotes []data.Quote) (stored int64, err error)
}

// QuoteOptions configure the quotes lane. Venue, Markets and one of CLOB and Channel's URL are
// required; zero values mean the defaults.
type QuoteOptions struct {
	Venue   Quoter
	Markets *Markets     // has the open markets
	CLOB    *clob.Client // nil: books are not requested
	Channel channel.Options
	Log     zerolog.Logger
	Now     func() time.Time

	Every         time.Duration // interval at which changes are shown; 10 s
	Poll          time.Duration // between two requests for the books of tokens that no connection covers; 1 min
	Most          int           // maximum number of tokens followed by connections; 5,000
	PerConnection int           // of these per connection; 500
	MostPolled    int           // maximum number of tokens whose books are requested at once; 2,000
	Silent        time.Duration // time without any quote after which the lane counts as stalled; 5 min
}

// Quotes keeps bids, asks and last prices of open markets current, by the order book's channel, and
// by requesting books if the channel is off, silent or does not cover all tokens. Quotes are shown
// but are not facts.
type Quotes struct {
	o QuoteOptions

	mu          sync.Mutex
	markets     map[string]data.Hash // by the token of the first outcome
	quotes      map[string]*quote
	connections []*channel.Market
	polled      string                      // the last token whose book was requested
	failed      struct{ flush, poll error } // errors of the last time that quotes were shown, and books requested
	told        time.Time                   // when the last quote came, or there was no open market
	state       QuotesStatus
}

// quote is the current quote of a token.
type quote struct {
	bid, ask, last  *data.Micro
	bookAt, tradeAt time.Time // by the venue's clock; zero: no quote yet
	heard           time.Time // by our clock; zero: its connection has ended since, or no quote yet
	changed         bool      // changed since it was shown
}

// QuotesStatus is the status of the quotes lane.
type QuotesStatus struct {
	Phase    Phase           `json:"state"`
	Open     int             `json:"open_markets"`
	Followed int             `json:"followed"`       // of these, followed by connections
	Current  int             `json:"current"`        // of these, quoted by an open connection or polled within three polls
	AsOf     time.Time       `json:"as_of,omitzero"` // time of the newest quote by the venue's clock; zero: none
	Told     int64           `json:"told"`           // quotes received
	Late     int64           `json:"late"`           // of these, older than the known quote
	Shown    int64           `json:"shown"`          // quotes shown, each with all changes since the last time
	Polls    int64           `json:"polls"`
	NoBooks  int64           `json:"empty_polls"` // polls without any book three times in a row
	Channels []channel.Stats `json:"channels"`
	Error    string          `json:"error,omitempty"` // error of the last time that quotes were shown or polled
}

// NewQuotes returns the lane; Run follows.
func NewQuotes(o QuoteOptions) *Quotes {
	if o.Now == nil {
		o.Now = time.Now
	}
	o.Every, o.Poll = cmp.Or(o.Every, 10*time.Second), cmp.Or(o.Poll, time.Minute)
	o.Silent = cmp.Or(o.Silent, 5*time.Minute) // by then connections have been replaced and books requested
	o.Most, o.PerConnection, o.MostPolled = cmp.Or(o.Most, 5000), cmp.Or(o.PerConnection, 500), cmp.Or(o.MostPolled, 2000)
	return &Quotes{o: o, markets: map[string]data.Hash{}, quotes: map[string]*quote{}, state: QuotesStatus{Phase: Idle}}
}

// Run follows until ctx ends. It fails if the channel's address is invalid.
func (q *Quotes) Run(ctx context.Context) error {
	var group errgroup.Group
	var connections []*channel.Market
	if q.o.Channel.URL != "" {
		for i := range (q.o.Most + q.o.PerConnection - 1) / q.o.PerConnection {
			o := q.o.Channel
			o.Name = fmt.Sprintf("quotes %d", i+1)
			c, err := channel.NewMarket(o, q)
			if err != nil {
				return err
			}
			connections = append(connections, c)
		}
	}
	q.mu.Lock()
	q.connections = connections
	q.mu.Unlock()
	q.choose()
	for _, c := range connections {
		guard.InGroup(&group, func() error { return c.Run(ctx) })
	}
	guard.InGroup(&group, func() error { return q.repeat(ctx, q.o.Every, &q.failed.flush, q.flush) })
	if q.o.CLOB != nil {
		guard.InGroup(&group, func() error { return q.repeat(ctx, q.o.Poll, &q.failed.poll, q.poll) })
	}
	if err := guard.Repanic(group.Wait()); ctx.Err() == nil {
		return err
	}
	return nil
}

// repeat calls f at intervals until ctx ends. The last error of f is stored in failed.
func (q *Quotes) repeat(ctx context.Context, every time.Duration, failed *error, do func(context.Context) error) error {
	t := time.NewTicker(every)
	defer t.Stop()
	for {
		q.choose()
		err := do(ctx)
		if ctx.Err() != nil {
			return nil
		}
		q.count(func(s *QuotesStatus) {
			*failed = err
			if s.Phase, s.Error = Idle, ""; cmp.Or(q.failed.flush, q.failed.poll) != nil {
				s.Phase, s.Error = BackOff, cmp.Or(q.failed.flush, q.failed.poll).Error()
			}
		})
		if err != nil {
			q.o.Log.Warn().Err(err).Msg("quotes could not be followed")
		}
		select {
		case <-t.C:
		case <-ctx.Done():
			return nil
		}
	}
}

// choose updates the open markets, and assigns tokens to connections. A token stays on its
// connection.
func (q *Quotes) choose() {
	open := q.o.Markets.OpenTokens()
	q.mu.Lock()
	defer q.mu.Unlock()
	clear(q.markets)
	for condition, token := range open {
		if token != "" {
			q.markets[token] = condition
		}
	}
	for t := range q.quotes {
		if _, is := q.markets[t]; !is {
			delete(q.quotes, t)
		}
	}
	if q.state.Open, q.state.Followed = len(q.markets), 0; len(q.markets) == 0 || q.told.IsZero() {
		q.told = q.o.Now()
	}
	if len(q.connections) == 0 {
		return
	}
	on := make([][]string, len(q.connections))
	left := maps.Clone(q.markets)
	for i, c := range q.connections {
		for _, t := range c.Tokens() {
			if _, is := left[t]; is {
				on[i] = append(on[i], t)
				delete(left, t)
			}
		}
	}
	for _, t := range slices.Sorted(maps.Keys(left)) {
		i := slices.IndexFunc(on, func(tokens []string) bool { return len(tokens) < q.o.PerConnection })
		if i < 0 {
			break // the others are polled
		}
		on[i] = append(on[i], t)
	}
	for i, c := range q.connections {
		q.state.Followed += len(on[i])
		if have := c.Tokens(); !slices.Equal(have, slices.Sorted(slices.Values(on[i]))) {
			c.Follow(on[i])
		}
	}
}

// Quote adds a quote from a connection.
func (q *Quotes) Quote(told channel.Quote) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.take(told)
}

// take is like Quote; mu must be held. A quote that is older than the known one is late and
// ignored.
func (q *Quotes) take(told channel.Quote) {
	if _, is := q.markets[told.Token]; !is {
		return
	}
	now := q.o.Now()
	if told.At.IsZero() {
		told.At = now
	}
	q.state.Told++
	q.told = now
	have := q.quotes[told.Token]
	if have == nil {
		have = &quote{}
		q.quotes[told.Token] = have
	}
	have.heard = now
	if told.At.After(q.state.AsOf) {
		q.state.AsOf = told.At.UTC()
	}
	late := false
	if told.Book {
		if late = told.At.Before(have.bookAt); !late {
			have.changed = have.changed || have.bookAt.IsZero() || !same(have.bid, told.Bid) || !same(have.ask, told.Ask)
			have.bid, have.ask, have.bookAt = told.Bid, told.Ask, told.At
		}
	}
	if told.Last != nil {
		if told.At.Before(have.tradeAt) {
			late = true
		} else {
			have.changed = have.changed || !same(have.last, told.Last)
			have.last, have.tradeAt = told.Last, told.At
		}
	}
	if late {
		q.state.Late++
	}
}

func same(a, b *data.Micro) bool { return a == b || a != nil && b != nil && *a == *b }

// Resolved requests a market that a connection reports to be resolved.
func (q *Quotes) Resolved(condition data.Hash) { q.o.Markets.Heard(condition) }

// Appeared requests a market that a connection reports to be new.
func (q *Quotes) Appeared(condition data.Hash) { q.o.Markets.Heard(condition) }

// Lost makes the tokens of a closed connection be polled until another one sends their quotes.
func (q *Quotes) Lost(tokens []string) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for _, t := range tokens {
		if have := q.quotes[t]; have != nil {
			have.heard = time.Time{}
		}
	}
}

// mostQuotes is the maximum number of quotes that are shown at once.
const mostQuotes = 2000

// flush shows changed quotes. A token with only a trade has no quote yet.
func (q *Quotes) flush(ctx context.Context) error {
	q.mu.Lock()
	var quotes []data.Quote
	var tokens []string
	for _, t := range slices.Sorted(maps.Keys(q.quotes)) {
		have := q.quotes[t]
		if !have.changed || have.bookAt.IsZero() || len(quotes) == mostQuotes {
			continue
		}
		have.changed = false
		at := have.bookAt
		if have.tradeAt.After(at) {
			at = have.tradeAt
		}
		tokens = append(tokens, t)
		quotes = append(quotes, data.Quote{Condition: q.markets[t], Bid: have.bid, Ask: have.ask, Last: have.last, At: at})
	}
	q.mu.Unlock()
	if len(quotes) == 0 {
		return nil
	}
	stored, err := q.o.Venue.Quote(ctx, quotes)
	q.mu.Lock()
	defer q.mu.Unlock()
	q.state.Shown += stored
	if err == nil {
		return nil
	}
	for _, t := range tokens {
		if have := q.quotes[t]; have != nil {
			have.changed = true
		}
	}
	return err
}

// poll requests the books of tokens without a recent quote, in turns.
func (q *Quotes) poll(ctx context.Context) error {
	now := q.o.Now()
	q.mu.Lock()
	var quiet []string
	for t := range q.markets {
		if have := q.quotes[t]; have == nil || have.heard.IsZero() || q.connections == nil && now.Sub(have.heard) >= q.o.Poll || now.Sub(have.heard) >= 3*q.o.Poll {
			quiet = append(quiet, t)
		}
	}
	slices.Sort(quiet)
	from, _ := slices.BinarySearch(quiet, q.polled+"\x00")
	quiet = append(quiet[from:], quiet[:from]...) // after the last token of the previous poll
	quiet = quiet[:min(len(quiet), q.o.MostPolled)]
	q.mu.Unlock()
	if len(quiet) == 0 {
		return nil
	}
	var books []clob.Book
	var err error
	for range 3 { // a request that is not understood also gets an empty response
		if books, err = q.o.CLOB.Books(ctx, quiet); !errors.Is(err, clob.ErrNoBooks) {
			break
		}
	}
	connected := q.connected()
	q.mu.Lock()
	defer q.mu.Unlock()
	q.state.Polls++
	if errors.Is(err, clob.ErrNoBooks) {
		q.state.NoBooks++
	}
	q.polled = quiet[len(quiet)-1]
	if errors.Is(err, clob.ErrNoBooks) && connected {
		return nil // these are open but have no book
	}
	if err != nil {
		return err
	}
	for _, b := range books {
		q.take(channel.Quote{Token: b.Token, Book: true, Bid: b.Bid, Ask: b.Ask, Last: b.Last, At: b.At})
	}
	return nil
}

// connected reports whether a connection is open and sends quotes.
func (q *Quotes) connected() bool {
	q.mu.Lock()
	connections := q.connections
	q.mu.Unlock()
	return slices.ContainsFunc(connections, func(c *channel.Market) bool { return c.Stats().State == channel.Following })
}

func (q *Quotes) count(f func(*QuotesStatus)) {
	q.mu.Lock()
	defer q.mu.Unlock()
	f(&q.state)
}

// Status returns the lane's status.
func (q *Quotes) Status() QuotesStatus {
	now := q.o.Now()
	q.mu.Lock()
	s := q.state
	for _, have := range q.quotes {
		if !have.heard.IsZero() && (q.connections != nil || now.Sub(have.heard) < 3*q.o.Poll) {
			s.Current++
		}
	}
	if !q.told.IsZero() && now.Sub(q.told) >= q.o.Silent {
		s.Phase = Stalled
	}
	connections := q.connections
	q.mu.Unlock()
	for _, c := range connections {
		if c.Stats().State != channel.Idle || c.Stats().Connects > 0 {
			s.Channels = append(s.Channels, c.Stats())
		}
	}
	return s
}
