package follow

import (
	"bytes"
	"context"
	"database/sql"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"errors"
	"time"

	"github.com/cespare/xxhash/v2"

	"pmx/data"
	"pmx/data/feeds/shape"
	"pmx/engine/ingest"
	"pmx/engine/ledger"
)

// seenMarket is what was last written for a market: hashes of its record, separately for quote and
// volume, which change with every trade.
type seenMarket struct {
	content, quote uint64
	written        int64 // unix seconds
}

// hashes returns the hashes of a record. They do not include its version, which often changes
// although nothing else does.
func hashes(m data.Market) (content, quote uint64, err error) {
	moving := data.Market{BestBid: m.BestBid, BestAsk: m.BestAsk, LastPrice: m.LastPrice, Liquidity: m.Liquidity,
		ReportedVolume: m.ReportedVolume}
	m.BestBid, m.BestAsk, m.LastPrice, m.Liquidity, m.ReportedVolume = nil, nil, nil, nil, nil
	m.UpdatedAt = time.Time{}
	if m.Closed == nil || !*m.Closed {
		moving.Prices, m.Prices = m.Prices, nil
	}
	if m.Resolution != nil {
		r := *m.Resolution
		r.Version = time.Time{}
		m.Resolution = &r
	}
	b, err := json.Marshal(m)
	if err != nil {
		return 0, 0, err
	}
	q, err := json.Marshal(moving)
	return xxhash.Sum64(b), xxhash.Sum64(q), err
}

// changed reports whether a record differs from what was written, and returns what to remember once
// it is written.
func (m *Markets) changed(record data.Market, now time.Time) (next seenMarket, yes bool, err error) {
	next.content, next.quote, err = hashes(record)
	if err != nil {
		return next, false, err
	}
	next.written = now.Unix()
	m.mu.Lock()
	defer m.mu.Unlock()
	old, known := m.seen[record.Condition]
	yes = !known || old.content != next.content || old.quote != next.quote && passed(old.written, now, m.o.Quotes)
	return next, yes, nil
}

// record is a market from a source.
type record struct {
	data.Market
	Bad error // why it cannot be parsed: it is counted but not imported
}

// writing says how records are written.
type writing struct {
	feed string // feed of the records
	name string // name in the import log
	all  bool   // write unchanged records, too
	// remember is set for records that are read repeatedly: what was written for them is kept.
	remember bool
	within   func(ctx context.Context, conn *sql.Conn) error
}

// write commits new and changed records, and remembers them.
func (m *Markets) write(ctx context.Context, w writing, records []record) error {
	now := m.o.Now()
	var fresh []data.Market
	next := map[data.Hash]seenMarket{}
	unchanged := int64(0)
	for _, r := range records {
		if r.Bad != nil {
			m.rejected(r.Bad)
			continue
		}
		seen, yes, err := m.changed(r.Market, now)
		if err != nil {
			return err
		}
		if !yes && !w.all {
			unchanged++
			continue
		}
		next[r.Condition] = seen
		fresh = append(fresh, r.Market)
	}
	rows := ingest.Rows{Feed: data.Feed{Name: w.feed, Kind: data.KindMarkets}, Name: w.name, Within: w.within}
	if len(fresh) > 0 {
		rows.Read = func(_ context.Context, sink data.Sink) error {
			for i := range fresh {
				if err := sink.Market(int64(i+1), fresh[i]); err != nil {
					return err
				}
			}
			return nil
		}
		rows.Within = func(ctx context.Context, conn *sql.Conn) error { return m.written(ctx, conn, w.within) }
	}
	if rows.Read != nil || rows.Within != nil {
		r, err := m.o.Venue.Commit(ctx, rows, ingest.Remaining{})
		if err != nil {
			return err
		}
		m.count(func(s *MarketsStatus) { s.New, s.Changed = s.New+r.MarketsNew, s.Changed+r.MarketsChanged })
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.saved = m.saved && len(fresh) == 0
	for c, s := range next {
		if _, known := m.seen[c]; known || w.remember {
			m.seen[c] = s
		}
	}
	m.state.Read += int64(len(records))
	m.state.Unchanged += unchanged
	m.state.Written += int64(len(fresh))
	return nil
}

// rejected counts a record that cannot be parsed, by reason.
func (m *Markets) rejected(bad error) {
	reason := "unreadable"
	var row *shape.RowError
	if errors.As(bad, &row) {
		reason = row.Reason
	}
	m.count(func(s *MarketsStatus) {
		s.Rejected++
		s.Unknown[reason]++
	})
}

// written is what is done in the transaction of the records: the stored hashes of the last end are
// deleted, because a later start must not use them without these records.
func (m *Markets) written(ctx context.Context, conn *sql.Conn, within func(context.Context, *sql.Conn) error) error {
	m.mu.Lock()
	saved := m.saved
	m.mu.Unlock()
	if saved {
		if _, err := conn.ExecContext(ctx, marketStatements.Get("DropSeen")); err != nil {
			return err
		}
	}
	if within == nil {
		return nil
	}
	return within(ctx, conn)
}

// The lane's cursors in the ledger. That of the seen markets exists from a clean end to the next
// commit.
const (
	seenCursor  = "markets seen"
	listCursor  = "markets list"
	stepsCursor = "markets steps"
	fullCursor  = "markets reconciliation"
)

const seenBytes = 32 + 3*8

// load reads what was stored at the last end.
func (m *Markets) load(ctx context.Context) error {
	var text string
	err := m.o.Venue.Read(ctx, func(conn *sql.Conn) (err error) {
		text, err = ledger.Cursor(ctx, conn, seenCursor)
		return err
	})
	if err != nil || text == "" {
		return err
	}
	b, err := base64.StdEncoding.DecodeString(text)
	m.mu.Lock()
	defer m.mu.Unlock()
	m.saved = true // it exists, whatever its contents
	if err != nil || len(b)%seenBytes != 0 {
		m.state.Unknown["seen"]++
		return nil
	}
	for ; len(b) > 0; b = b[seenBytes:] {
		word := func(i int) uint64 { return binary.LittleEndian.Uint64(b[32+8*i:]) }
		m.seen[data.Hash(b[:32])] = seenMarket{word(0), word(1), int64(word(2))}
	}
	return nil
}

// save stores what was written for the markets of open events.
func (m *Markets) save(ctx context.Context) error {
	var b bytes.Buffer
	m.mu.Lock()
	saved := m.saved
	for c, s := range m.seen {
		b.Write(c[:])
		for _, word := range []uint64{s.content, s.quote, uint64(s.written)} {
			b.Write(binary.LittleEndian.AppendUint64(nil, word))
		}
	}
	m.mu.Unlock()
	if saved || b.Len() == 0 {
		return nil
	}
	text := base64.StdEncoding.EncodeToString(b.Bytes())
	_, err := m.o.Venue.Commit(ctx, ingest.Rows{Name: "gamma", Within: func(ctx context.Context, conn *sql.Conn) error {
		return ledger.SetCursor(ctx, conn, seenCursor, text)
	}}, ingest.Remaining{})
	if err == nil {
		m.mu.Lock()
		m.saved = true
		m.mu.Unlock()
	}
	return err
}
