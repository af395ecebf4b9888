// Package channel follows the venue's websockets: the order book's channel of quotes, and the
// newest trades of the activity channel. Both are fast but incomplete: their data is shown and never
// stored as facts. A connection may be open but silent, so it is judged by the data that arrives.
package channel

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"net/http"
	"net/url"
	"sync"
	"time"

	"github.com/coder/websocket"

	"pmx/engine/guard"
)

// Options configure a channel. URL and Agent are required.
type Options struct {
	Name  string // of the source, for display: "quotes 1"
	URL   string // ws:// or wss://; its query is never shown
	Agent string // User-Agent: the program and a contact, in case it sends too many requests

	// Silence is the time without any data except pongs after which the connection is replaced; 0:
	// 30 seconds. It doubles, up to longestSilence, while new connections are silent too.
	Silence time.Duration
	Ping    time.Duration // between two pings; 0: the channel's default
	Settled time.Duration // after which a connection counts as stable; 0: a minute

	Now    func() time.Time
	Sleep  func(ctx context.Context, d time.Duration) error
	Jitter func() float64 // in [0, 1)
}

// Condition is the condition of a channel.
type Condition string

// The conditions of a channel.
const (
	Idle       Condition = "idle"       // there is nothing to follow
	Connecting Condition = "connecting" // not connected, waiting to try again
	Following  Condition = "following"  // connected and receiving data
)

// Stats are figures of a channel since the start.
type Stats struct {
	Name     string           `json:"name"`
	State    Condition        `json:"state"`
	Connects int64            `json:"connects"`             // connections made
	Silent   int64            `json:"silent"`               // closed because nothing came
	Frames   int64            `json:"frames"`               // not empty
	Events   map[string]int64 `json:"events"`               // known events, by type
	Unknown  map[string]int64 `json:"unknown"`              // unknown events, by type; "" for those without one
	Bad      int64            `json:"bad"`                  // frames and events that cannot be parsed
	LastAt   time.Time        `json:"last_event,omitzero"`  // time of the last event; zero: none
	LastErr  string           `json:"last_error,omitempty"` // why the last connection ended
}

// Waits and limits.
const (
	defaultSilence = 30 * time.Second
	longestSilence = 5 * time.Minute
	defaultSettled = time.Minute
	firstBackOff   = 500 * time.Millisecond
	longestBackOff = time.Minute
	writeTimeout   = 10 * time.Second
	dialTimeout    = 20 * time.Second
	mostFrame      = 16 << 20 // bytes
	mostTypes      = 64       // unknown types that are counted separately
)

// dialect has what differs between the two channels.
type dialect struct {
	ping  string
	every time.Duration
	// hello returns the first messages of a connection; none: there is nothing to follow. It is
	// called with the lock of the link held.
	hello func() [][]byte
	// read parses a frame and returns its number of events.
	read func(frame []byte) int
	// lost is called when a connection has ended: its data may be outdated from then on.
	lost func()
}

// link is a connection that is reopened whenever it ends.
type link struct {
	o Options
	d dialect

	wake chan struct{} // signals that pending has messages; its capacity is 1

	mu      sync.Mutex
	queue   [][]byte // messages to send on the current connection
	up      bool
	stats   Stats
	silence time.Duration
}

// CheckURL checks whether a text is the address of a channel; the error does not contain the text.
func CheckURL(text string) error {
	u, err := url.Parse(text)
	if err != nil || u.Host == "" || u.Scheme != "ws" && u.Scheme != "wss" {
		return errors.New("the address of a channel must be ws:// or wss:// and a host")
	}
	return nil
}

func newLink(o Options, d dialect) (*link, error) {
	if err := CheckURL(o.URL); err != nil {
		return nil, fmt.Errorf("%s: %w", o.Name, err)
	}
	if o.Agent == "" {
		return nil, fmt.Errorf("%s: no user agent: a service must be able to reach its clients", o.Name)
	}
	o.Silence, o.Settled = cmp.Or(o.Silence, defaultSilence), cmp.Or(o.Settled, defaultSettled)
	d.every = cmp.Or(o.Ping, d.every)
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Jitter == nil {
		o.Jitter = rand.Float64
	}
	if o.Sleep == nil {
		o.Sleep = guard.Sleep
	}
	return &link{o: o, d: d, wake: make(chan struct{}, 1), silence: o.Silence,
		stats: Stats{Name: o.Name, State: Idle, Events: map[string]int64{}, Unknown: map[string]int64{}}}, nil
}

// snapshot returns the current figures.
func (l *link) snapshot() Stats {
	l.mu.Lock()
	defer l.mu.Unlock()
	s := l.stats
	s.Events, s.Unknown = maps.Clone(s.Events), maps.Clone(s.Unknown)
	return s
}

// event counts a known event, unknown an unknown one.
func (l *link) event(kind string) { l.count(func(s *Stats) { s.Events[kind]++ }) }
func (l *link) unknown(kind string) {
	l.count(func(s *Stats) {
		if _, known := s.Unknown[kind]; !known && len(s.Unknown) >= mostTypes {
			kind = "other"
		}
		s.Unknown[kind]++
	})
}
func (l *link) bad() { l.count(func(s *Stats) { s.Bad++ }) }

func (l *link) count(f func(*Stats)) {
	l.mu.Lock()
	defer l.mu.Unlock()
	f(&l.stats)
}

// say queues messages if there is a connection. A new connection begins with hello, which includes
// everything. It is called with mu held, as of the change that the messages are about: otherwise
// hello may include the change and the messages repeat it.
func (l *link) say(messages ...[]byte) {
	if l.up {
		l.queue = append(l.queue, messages...)
	}
	select {
	case l.wake <- struct{}{}:
	default:
	}
}

// run follows the channel until ctx ends, and returns its error.
func (l *link) run(ctx context.Context) error {
	for tries := 0; ; {
		if l.idle() {
			select {
			case <-l.wake:
				continue
			case <-ctx.Done():
				return ctx.Err()
			}
		}
		l.count(func(s *Stats) { s.State = Connecting })
		began := l.o.Now()
		err := l.connection(ctx)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if errors.Is(err, errNothingLeft) { // which is no fault of the host
			tries = 0
			continue
		}
		if l.o.Now().Sub(began) >= l.o.Settled {
			tries = 0
		}
		l.count(func(s *Stats) { s.State, s.LastErr = Connecting, l.masked(err) })
		wait := min(firstBackOff<<min(tries, 16), longestBackOff)
		tries++
		if err := l.o.Sleep(ctx, time.Duration(float64(wait)*l.o.Jitter())); err != nil {
			return err
		}
	}
}

// idle reports whether there is nothing to follow.
func (l *link) idle() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.d.hello()) > 0 {
		return false
	}
	l.stats.State = Idle
	return true
}

// masked returns the text of an error without secrets of the address.
func (l *link) masked(err error) string {
	switch {
	case err == nil:
		return ""
	case errors.Is(err, errSilent):
		return err.Error()
	}
	if code := websocket.CloseStatus(err); code != -1 {
		return fmt.Sprintf("closed by the host with %d", code)
	}
	var status *statusError
	if errors.As(err, &status) {
		return status.Error()
	}
	return "the connection failed"
}

var (
	errSilent      = errors.New("connected, but no data came")
	errNothingLeft = errors.New("nothing is left to follow")
)

type statusError struct{ code int }

func (e *statusError) Error() string { return fmt.Sprintf("refused with status %d", e.code) }

// connection connects and follows the connection until it ends.
func (l *link) connection(ctx context.Context) error {
	dial, cancel := context.WithTimeout(ctx, dialTimeout)
	c, answer, err := websocket.Dial(dial, l.o.URL, &websocket.DialOptions{HTTPHeader: http.Header{"User-Agent": {l.o.Agent}}})
	cancel()
	if err != nil {
		if answer != nil {
			_ = answer.Body.Close() // it is in memory
			return &statusError{answer.StatusCode}
		}
		return err
	}
	c.SetReadLimit(mostFrame)
	l.mu.Lock()
	l.stats.Connects++
	if l.queue, l.up = l.d.hello(), true; len(l.queue) == 0 {
		l.queue = [][]byte{nil} // nothing is followed since it was dialed
	}
	l.mu.Unlock()
	ctx, stop := context.WithCancelCause(ctx)
	came := make(chan int, 1) // events of a frame
	reader := guard.Start(func() error { return l.reads(ctx, c, came) })
	err = l.writes(ctx, c, came, reader)
	stop(err)
	_ = c.CloseNow() // this ends the reader
	for range came {
	}
	l.mu.Lock()
	l.up, l.queue = false, nil
	l.mu.Unlock()
	l.d.lost()
	return guard.Repanic(err)
}

// reads passes frames on until the connection ends. It closes came.
func (l *link) reads(ctx context.Context, c *websocket.Conn, came chan<- int) error {
	defer close(came)
	for {
		_, frame, err := c.Read(ctx)
		if err != nil {
			return err
		}
		n := l.d.read(frame)
		if n > 0 {
			l.count(func(s *Stats) { s.State, s.LastAt = Following, l.o.Now() })
		}
		select {
		case came <- n:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// writes sends messages and pings until the connection ends or is silent.
func (l *link) writes(ctx context.Context, c *websocket.Conn, came <-chan int, reader <-chan error) error {
	ping := time.NewTicker(l.d.every)
	defer ping.Stop()
	silent := time.NewTimer(l.silence)
	defer silent.Stop()
	told := 0 // frames with events: the first is the reply to the subscription
	for {
		if err := l.flush(ctx, c); err != nil {
			return err
		}
		select {
		case n, open := <-came:
			if !open {
				return <-reader
			}
			if n == 0 {
				continue
			}
			if told++; told > 1 {
				l.silence = l.o.Silence
			}
			silent.Reset(l.silence)
		case <-l.wake:
		case <-ping.C:
			if err := l.write(ctx, c, []byte(l.d.ping)); err != nil {
				return err
			}
		case <-silent.C:
			l.count(func(s *Stats) { s.Silent++ })
			l.silence = min(2*l.silence, max(longestSilence, l.o.Silence))
			return errSilent
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

func (l *link) flush(ctx context.Context, c *websocket.Conn) error {
	l.mu.Lock()
	messages := l.queue
	l.queue = nil
	l.mu.Unlock()
	for _, m := range messages {
		if m == nil {
			return errNothingLeft
		}
		if err := l.write(ctx, c, m); err != nil {
			return err
		}
	}
	return nil
}

func (l *link) write(ctx context.Context, c *websocket.Conn, message []byte) error {
	ctx, cancel := context.WithTimeout(ctx, writeTimeout)
	defer cancel()
	return c.Write(ctx, websocket.MessageText, message)
}
