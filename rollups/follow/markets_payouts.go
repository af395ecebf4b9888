package follow

import (
	"bytes"
	"context"
	"database/sql"
	"time"

	"github.com/cespare/xxhash/v2"

	"pmx/data"
	"pmx/data/feeds/polymarket"
	"pmx/data/upstream/dataapi"
	"pmx/engine/ingest"
)

// Payouts of a market that has been closed for so long without payouts are requested from the data
// API, repeatedly after these intervals. The API also has payouts that the chain never stores.
const payoutsAfter = 10 * time.Minute

var afterUnresolved = []time.Duration{10 * time.Minute, time.Hour, 6 * time.Hour, 24 * time.Hour, 7 * 24 * time.Hour}

// mostUnresolved is the maximum number of markets without payouts that are read at once.
const mostUnresolved = 2000

// Payouts that the chain's logs do not have after unseenAfter are requested there too, even if
// another source has them: their logs may have been lost. Those older than unseenUntil may be older
// than the followed blocks.
const (
	unseenAfter = time.Hour
	unseenUntil = 30 * 24 * time.Hour
)

// payouts requests payouts from the data API that no source, or not the chain, has given.
func (m *Markets) payouts(ctx context.Context, now time.Time) error {
	if m.o.Data == nil {
		return nil
	}
	untold, unseen, err := m.untold(ctx, now)
	if err != nil {
		return err
	}
	key := func(c data.Hash) uint64 { return xxhash.Sum64(append([]byte("payout "), c[:]...)) }
	untold = only(untold, func(c data.Hash) bool { return m.ready(key(c), now) })
	for len(untold) > 0 {
		some := untold[:min(len(untold), dataapi.MostConditions)]
		untold = untold[len(some):]
		told, err := m.askPayouts(ctx, some)
		if err != nil {
			return err
		}
		for _, c := range some {
			m.note(key(c), told[c] && !unseen[c], now, afterUnresolved)
		}
	}
	return nil
}

// untold returns the markets whose payouts no source has given, followed by those whose payouts the
// chain has not; the latter are in unseen.
func (m *Markets) untold(ctx context.Context, now time.Time) (untold []data.Hash, unseen map[data.Hash]bool, err error) {
	var others []data.Hash
	err = m.o.Venue.Read(ctx, func(conn *sql.Conn) (err error) {
		untold, err = conditionsOf(ctx, conn, "ClosedWithoutPayouts", now.Add(-payoutsAfter).UnixMicro(), mostUnresolved)
		if err == nil && m.o.Unseen != nil {
			others, err = conditionsOf(ctx, conn, "PayoutsNotOfTheChain", now.Add(-unseenUntil).UnixMicro(), now.Add(-unseenAfter).UnixMicro(), mostUnresolved)
		}
		return err
	})
	m.count(func(s *MarketsStatus) { s.Unseen = len(others) })
	unseen = map[data.Hash]bool{}
	for _, c := range others {
		unseen[c] = true
	}
	return append(untold, others...), unseen, err
}

// askPayouts writes the data API's payouts of conditions, and returns which it had.
func (m *Markets) askPayouts(ctx context.Context, conditions []data.Hash) (told map[data.Hash]bool, err error) {
	rows, err := m.o.Data.Resolutions(ctx, conditions)
	if err != nil {
		return nil, err
	}
	told = map[data.Hash]bool{}
	var lines bytes.Buffer
	var blocks []int64
	for _, r := range rows {
		if r.Status != "resolved" {
			continue
		}
		told[r.Condition] = true
		lines.Write(r.Raw)
		lines.WriteByte('\n')
		if r.Block > 0 {
			blocks = append(blocks, r.Block)
		}
	}
	if lines.Len() == 0 {
		return told, nil
	}
	receipt, err := m.o.Venue.Commit(ctx, resolutionRows(lines.Bytes()), ingest.Remaining{})
	if err != nil {
		return nil, err
	}
	m.count(func(s *MarketsStatus) { s.Payouts += receipt.Resolutions })
	if m.o.Unseen != nil && len(blocks) > 0 {
		m.o.Unseen(blocks...)
	}
	return told, nil
}

// resolutionRows returns rows of the data API's resolutions, one per line, for an import.
func resolutionRows(lines []byte) ingest.Rows {
	var feed data.Feed
	for _, f := range polymarket.Feeds() {
		if f.Name == "polymarket-resolutions" {
			feed = f
		}
	}
	return ingest.Rows{Feed: feed, Name: "data API resolutions", Read: func(ctx context.Context, sink data.Sink) error {
		return feed.Read(ctx, data.Source{Format: data.NDJSON}, bytes.NewReader(lines), sink)
	}}
}
