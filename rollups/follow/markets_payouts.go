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

// A market that is closed for so long and has no payouts is asked for at the data API, which
// also tells payouts that the chain never stores, again and again after these.
const payoutsAfter = 10 * time.Minute

var afterUnresolved = []time.Duration{10 * time.Minute, time.Hour, 6 * time.Hour, 24 * time.Hour, 7 * 24 * time.Hour}

// mostUnresolved is how many markets without payouts are looked for at once.
const mostUnresolved = 2000

// payouts asks the data API for payouts that nobody told.
func (m *Markets) payouts(ctx context.Context, now time.Time) error {
	if m.o.Data == nil {
		return nil
	}
	var open []data.Hash
	err := m.o.Venue.Read(ctx, func(conn *sql.Conn) (err error) {
		open, err = conditionsOf(ctx, conn, "ClosedWithoutPayouts", now.Add(-payoutsAfter).UnixMicro(), mostUnresolved)
		return err
	})
	if err != nil {
		return err
	}
	key := func(c data.Hash) uint64 { return xxhash.Sum64(append([]byte("payout "), c[:]...)) }
	open = only(open, func(c data.Hash) bool { return m.ready(key(c), now) })
	for len(open) > 0 {
		some := open[:min(len(open), dataapi.MostConditions)]
		open = open[len(some):]
		rows, err := m.o.Data.Resolutions(ctx, some)
		if err != nil {
			return err
		}
		told := map[data.Hash]bool{}
		var lines bytes.Buffer
		for _, r := range rows {
			if told[r.Condition] = r.Status == "resolved"; told[r.Condition] {
				lines.Write(r.Raw)
				lines.WriteByte('\n')
			}
		}
		if lines.Len() > 0 {
			receipt, err := m.o.Venue.Commit(ctx, resolutionRows(lines.Bytes()), ingest.Remaining{})
			if err != nil {
				return err
			}
			m.count(func(s *MarketsState) { s.Payouts += receipt.Resolutions })
		}
		for _, c := range some {
			m.note(key(c), told[c], now, afterUnresolved)
		}
	}
	return nil
}

// resolutionRows are rows of the data API's resolutions, one a line, as an import reads them.
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
