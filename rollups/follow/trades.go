package follow

import (
	"bytes"
	"cmp"
	"context"
	"database/sql"
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/rs/zerolog"

	"pmx/data"
	"pmx/data/feeds/polymarket"
	"pmx/data/upstream/dataapi"
	"pmx/data/upstream/pages"
	"pmx/engine/guard"
	"pmx/engine/ingest"
	"pmx/engine/ledger"
	"pmx/engine/statement"
	"pmx/rollups/serving"
)

//go:embed sql/trades.sql
var tradesSQL embed.FS

var tradesStatements = statement.MustLoad(tradesSQL)

// TradesOptions configure the trades lane. Venue and Data are required; zero values mean the
// defaults.
type TradesOptions struct {
	Venue Venue
	Data  *dataapi.Client
	Log   zerolog.Logger
	Now   func() time.Time
	Sleep func(context.Context, time.Duration) error
	Every time.Duration // between two sweeps of the markets; 5 min
	From  time.Time     // where to start if nothing is stored; zero: a day ago
}

// TradesHoles says what is missing when trades are followed, for readers of the figures.
const TradesHoles = "Fills come from the venue's list of trades, because no provider of the chain is given: fills of less than 0.01 tokens, fees and log indexes are missing, and " +
	"trades that the list loses are not noticed. Name providers (--rpc, for a server --sync-rpc) to follow the chain, which replaces these fills."

// tradesFail precedes that text while the list cannot be read.
const tradesFail = "The venue's list of trades cannot be read; the log says why. "

// tradesStalled is the time without a response of the list after which the lane counts as stalled.
const tradesStalled = 15 * time.Minute

// Trades follows fills by the venue's own list of trades, market by market, if the chain is not
// followed. Its fills are provisional: they have no log index, and are replaced by the chain's.
type Trades struct {
	o    TradesOptions
	good time.Time // the last successful sweep, or the start; used only by Once

	mu    sync.Mutex
	state TradesStatus
}

// TradesStatus is the status of the trades lane.
type TradesStatus struct {
	Phase   Phase     `json:"state"`
	AsOf    time.Time `json:"as_of,omitzero"` // up to when the trades of all known markets are committed; zero: never
	Since   time.Time `json:"since,omitzero"` // from when on
	Markets int       `json:"markets"`
	Fills   int64     `json:"fills"` // new ones since the start of the process
	Pages   int64     `json:"pages"`
	Known   int64     `json:"known_by_the_chain"` // rows of transactions that the chain has
	Holes   string    `json:"holes"`              // what the list does not have
	Error   string    `json:"error,omitempty"`
}

// tradesMemory is what the lane stores in the ledger, in unix seconds.
type tradesMemory struct {
	Start int64 `json:"start"`
	Until int64 `json:"until"`
}

// Names of the lane and its rows in the ledger and the import log.
const (
	tradesSource = "trades"
	tradesName   = data.ListedTrades
)

// Overlap of sweeps: rows come late, and those younger than settled may still come.
const (
	tradesOverlap = 10 * time.Minute
	tradesSettled = time.Minute
	youngMarket   = 24 * time.Hour // how long a market may have been traded before it was known
)

// NewTrades returns the lane; Run follows.
func NewTrades(o TradesOptions) *Trades {
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Sleep == nil {
		o.Sleep = guard.Sleep
	}
	o.Every = cmp.Or(o.Every, 5*time.Minute)
	return &Trades{o: o, good: o.Now(), state: TradesStatus{Phase: Idle, Holes: TradesHoles}}
}

// Run sweeps at intervals until ctx ends.
func (t *Trades) Run(ctx context.Context) error {
	for failures := 0; ctx.Err() == nil; {
		rest := t.o.Every
		if err := t.Once(ctx); err != nil && ctx.Err() == nil {
			rest = min(rest, pause(failures+1))
			failures++
			t.o.Log.Warn().Err(err).Float64("wait_seconds", rest.Seconds()).Msg("trades could not be followed")
		} else {
			failures = 0
		}
		if t.o.Sleep(ctx, rest) != nil {
			break
		}
	}
	return ctx.Err()
}

// Once sweeps once.
func (t *Trades) Once(ctx context.Context) error {
	t.set(func(s *TradesStatus) { s.Phase = Fetch })
	err := t.sweep(ctx)
	now := t.o.Now()
	if err == nil {
		t.good = now
	}
	t.set(func(s *TradesStatus) {
		switch {
		case err == nil:
			s.Phase, s.Error = Idle, ""
		case now.Sub(t.good) >= tradesStalled:
			s.Phase, s.Error = Stalled, err.Error()
		default:
			s.Phase, s.Error = BackOff, err.Error()
		}
	})
	return err
}

func (t *Trades) set(f func(*TradesStatus)) {
	t.mu.Lock()
	defer t.mu.Unlock()
	f(&t.state)
}

func readTradesMemory(ctx context.Context, conn *sql.Conn) (m tradesMemory, err error) {
	text, err := ledger.Cursor(ctx, conn, tradesSource)
	if err == nil && text != "" {
		if err = json.Unmarshal([]byte(text), &m); err != nil {
			err = fmt.Errorf("the stored state of the trades lane cannot be read: %w", err)
		}
	}
	return m, err
}

// sweep imports the trades of all markets that may have been traded since the last sweep.
func (t *Trades) sweep(ctx context.Context) error {
	until := t.o.Now().Add(-tradesSettled).Unix()
	var m tradesMemory
	var newest int64
	err := t.o.Venue.Read(ctx, func(conn *sql.Conn) (err error) {
		if m, err = readTradesMemory(ctx, conn); err != nil || m.Start > 0 {
			return err
		}
		newest, err = ledger.NewestFill(ctx, conn) // scans the facts
		return err
	})
	if err != nil {
		return err
	}
	if m.Start == 0 {
		m.Start = until - 86_400
		switch {
		case !t.o.From.IsZero():
			m.Start = t.o.From.Unix()
		case newest > 0:
			m.Start = min(until, newest/1_000_000)
		}
		m.Until = m.Start
		if err := t.remember(ctx, m); err != nil { // stored before any row: the chain lane begins there
			return err
		}
	}
	if m.Until > m.Start { // of a completed sweep, perhaps before a restart
		t.set(func(s *TradesStatus) { s.AsOf = unix(m.Until) })
	}
	from := max(m.Start, m.Until-int64(tradesOverlap/time.Second))
	old, young, err := t.markets(ctx, from)
	if err != nil {
		return err
	}
	t.set(func(s *TradesStatus) { s.Markets, s.Since = len(old)+len(young), unix(m.Start) })
	var odd error
	for _, part := range []struct {
		markets []data.Hash
		from    int64
	}{{old, from}, {young, m.Start}} {
		for some := range slices.Chunk(part.markets, dataapi.MostConditions) {
			err := t.follow(ctx, some, part.from, until)
			if err != nil && !isOdd(err) {
				return err
			}
			odd = cmp.Or(odd, err)
		}
	}
	if odd != nil { // all other markets are committed, and these are requested from the same time on
		return odd
	}
	m.Until = until
	if err := t.remember(ctx, m); err != nil {
		return err
	}
	t.set(func(s *TradesStatus) { s.AsOf = unix(until) })
	return nil
}

// isOdd reports whether an error is that of a response's contents: then other markets may still
// work.
func isOdd(err error) bool {
	var shape *pages.ShapeError
	var foreign *pages.ForeignError
	var loop *pages.LoopError
	return errors.As(err, &shape) || errors.As(err, &foreign) || errors.As(err, &loop)
}

func (t *Trades) remember(ctx context.Context, m tradesMemory) error {
	text, err := json.Marshal(m)
	if err != nil {
		return err
	}
	_, err = t.o.Venue.Commit(ctx, ingest.Rows{Name: tradesName, Within: func(ctx context.Context, conn *sql.Conn) error {
		return ledger.SetCursor(ctx, conn, tradesSource, string(text))
	}}, ingest.Remaining{})
	return err
}

// markets returns the markets that may have been traded since a time, unix seconds; young ones may
// have been traded before they were known.
func (t *Trades) markets(ctx context.Context, from int64) (old, young []data.Hash, err error) {
	err = t.o.Venue.Read(ctx, func(conn *sql.Conn) error {
		return eachRow(ctx, conn, func(rows *sql.Rows) error {
			var isYoung bool
			c, err := scanHash(rows, &isYoung)
			if isYoung {
				young = append(young, c)
			} else {
				old = append(old, c)
			}
			return err
		}, tradesStatements.Get("TradedMarkets"), (from-int64(youngMarket/time.Second))*1_000_000, from*1_000_000)
	})
	return old, young, err
}

// follow imports the trades of markets in a period, unix seconds, until included. Rows do not have
// the role, but takers' rows can be requested separately.
func (t *Trades) follow(ctx context.Context, markets []data.Hash, from, until int64) error {
	all, err := t.list(ctx, markets, false, from, until)
	if err != nil || len(all) == 0 {
		return err
	}
	takers, err := t.list(ctx, markets, true, from, until)
	if err != nil {
		return err
	}
	known, err := t.known(ctx, all, from, until)
	if err != nil {
		return err
	}
	taken := map[string]int{}
	for _, row := range takers {
		taken[string(row.Raw)]++
	}
	var lines bytes.Buffer
	var roles []data.Role
	for _, row := range all {
		if known[row.Tx.String()] {
			t.set(func(s *TradesStatus) { s.Known++ })
			continue
		}
		role := data.Maker
		if taken[string(row.Raw)] > 0 {
			taken[string(row.Raw)]--
			role = data.Taker
		}
		roles = append(roles, role)
		lines.Write(bytes.ReplaceAll(row.Raw, []byte("\n"), []byte(" ")))
		lines.WriteByte('\n')
	}
	if len(roles) == 0 {
		return nil
	}
	receipt, err := t.o.Venue.Commit(ctx, tradeRows(lines.Bytes(), roles), ingest.Remaining{})
	t.set(func(s *TradesStatus) { s.Fills += receipt.Inserted })
	return err
}

// list scans the trades of markets.
func (t *Trades) list(ctx context.Context, markets []data.Hash, takers bool, from, until int64) (out []dataapi.Trade, err error) {
	err = t.o.Data.EachTrades(ctx, markets, takers, "", func(p dataapi.TradesPage) error {
		t.set(func(s *TradesStatus) { s.Pages++ })
		for _, row := range p.Trades {
			if row.At >= from && row.At <= until {
				out = append(out, row)
			}
		}
		if n := len(p.Trades); n > 0 && p.Trades[n-1].At < from {
			return errScanned
		}
		return nil
	})
	if errors.Is(err, errScanned) {
		err = nil
	}
	return out, err
}

// known returns the transactions of rows that the chain has.
func (t *Trades) known(ctx context.Context, rows []dataapi.Trade, from, until int64) (map[string]bool, error) {
	list := make([]string, 0, len(rows))
	for _, r := range rows {
		list = append(list, strings.TrimPrefix(r.Tx.String(), "0x"))
	}
	out := map[string]bool{}
	err := t.o.Venue.Read(ctx, func(conn *sql.Conn) error {
		there, err := queryTexts(ctx, conn, tradesStatements.Get("IndexedTransactions"), from, until, strings.Join(list, ","))
		for _, tx := range there {
			out[tx] = true
		}
		return err
	})
	return out, err
}

// roleSink sets the role of fills by line.
type roleSink struct {
	data.Sink
	roles []data.Role
}

// Fill passes the fill on.
func (s roleSink) Fill(line int64, f data.Fill) error {
	if line >= 1 && line <= int64(len(s.roles)) {
		f.Role = s.roles[line-1]
	}
	return s.Sink.Fill(line, f)
}

// tradeRows returns rows of the data API's trades, one per line, for an import. Each row was listed
// once, so equal ones are separate fills.
func tradeRows(lines []byte, roles []data.Role) ingest.Rows {
	var feed data.Feed
	for _, f := range polymarket.Feeds() {
		if f.Name == "polymarket-trades" {
			feed = f
		}
	}
	read := feed.Read
	feed.Identity = data.KeepRepeats
	return ingest.Rows{Feed: feed, Name: tradesName, Read: func(ctx context.Context, sink data.Sink) error {
		return read(ctx, data.Source{Format: data.NDJSON}, bytes.NewReader(lines), roleSink{sink, roles})
	}}
}

// Status returns the lane's status.
func (t *Trades) Status() TradesStatus {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.state
}

// StoredTrades returns the stored status of the lane of a venue that is not being followed; nil if
// it never was.
func StoredTrades(ctx context.Context, v Venue) (*TradesStatus, error) {
	var m tradesMemory
	err := v.Read(ctx, func(conn *sql.Conn) (err error) {
		m, err = readTradesMemory(ctx, conn)
		return err
	})
	if err != nil || m.Start == 0 {
		return nil, err
	}
	s := &TradesStatus{Phase: Stopped, Since: unix(m.Start), Holes: TradesHoles}
	if m.Until > m.Start {
		s.AsOf = unix(m.Until)
	}
	return s, nil
}

// Tell returns the lane's status for pages and metrics.
func (s *TradesStatus) Tell() serving.Source {
	problem := s.Holes
	if s.Error != "" {
		problem = tradesFail + problem
	}
	return serving.Source{
		Name: tradesSource, State: stateOf(s.Phase), AsOf: s.AsOf, Changed: s.AsOf, Rows: s.Fills, Problem: problem, Incomplete: true,
		Bounds: [4]time.Duration{15 * time.Minute, 30 * time.Minute, 2 * time.Hour, 24 * time.Hour},
	}
}
