package follow

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"time"

	"pmx/data/upstream/clob"
	"pmx/data/upstream/fetch"
	"pmx/data/upstream/gamma"
	"pmx/engine/guard"
	"pmx/engine/ingest"
	"pmx/engine/ledger"
)

// reconciliation is the progress of the scan of all markets.
type reconciliation struct {
	Closed bool   `json:"closed"` // in the list of closed markets, the second one
	Cursor string `json:"cursor"`
	Ended  int64  `json:"ended"` // end of the last complete scan, unix seconds; 0: none
}

// pagesAtOnce is the number of pages of a reconciliation in a commit.
const pagesAtOnce = 4

// Reconcile scans all markets slowly, from where it stopped last; not if the last scan ended less
// than a week ago.
func (m *Markets) Reconcile(ctx context.Context) error {
	var at reconciliation
	if err := m.cursor(ctx, fullCursor, &at); err != nil {
		return err
	}
	// An end in the future was set by a clock that was ahead.
	if past := m.o.Now().Sub(time.Unix(at.Ended, 0)); at.Cursor == "" && !at.Closed && past >= 0 && past < m.every("reconciliation") {
		return nil // a restart does not start another scan
	}
	for {
		var records []record
		held := 0
		err := m.o.Gamma.EachMarkets(ctx, at.Closed, at.Cursor, func(p gamma.Page) error {
			records, at.Cursor = append(records, ofGamma(p.Markets)...), p.Next
			if held++; held < pagesAtOnce && p.Next != "" {
				return guard.Sleep(ctx, m.o.Pace)
			}
			next := at
			if p.Next == "" {
				next.Closed = !at.Closed
				if at.Closed {
					next.Ended = m.o.Now().Unix()
				}
			}
			err := m.write(ctx, writing{feed: "gamma-markets", name: "gamma reconciliation", within: cursorOf(fullCursor, next)}, records)
			if records, held = nil, 0; err != nil || p.Next == "" {
				return err
			}
			return guard.Sleep(ctx, m.o.Pace)
		})
		if err != nil {
			return m.restart(ctx, err, fullCursor, reconciliation{Closed: at.Closed, Ended: at.Ended}, at.Cursor != "")
		}
		if at.Closed {
			return nil
		}
		at = reconciliation{Closed: true, Ended: at.Ended}
	}
}

func (m *Markets) every(task string) time.Duration {
	for _, t := range m.tasks {
		if t.name == task {
			return t.every
		}
	}
	return 0
}

// list reads the CLOB's list of markets from its last page on.
func (m *Markets) list(ctx context.Context) error {
	from := clob.Start
	if err := m.cursor(ctx, listCursor, &from); err != nil {
		return err
	}
	err := m.o.CLOB.EachMarkets(ctx, from, func(p clob.Page) error {
		if len(p.Markets) == 0 && p.Cursor == from && from != clob.Start {
			return fmt.Errorf("the page of markets at %s is empty, but was not before", from)
		}
		records := make([]record, len(p.Markets))
		for i, r := range p.Markets {
			records[i] = record{r.Market, r.Bad}
		}
		return m.write(ctx, writing{feed: "clob-markets", name: "clob markets", all: true, within: cursorOf(listCursor, p.Cursor)}, records)
	})
	if err != nil {
		return m.restart(ctx, err, listCursor, clob.Start, from != clob.Start)
	}
	return nil
}

// restart returns the error of a scan that began at a stored cursor. If the host no longer accepts
// the cursor, the next scan begins at the start.
func (m *Markets) restart(ctx context.Context, err error, name string, start any, kept bool) error {
	var status *fetch.StatusError
	if !kept || !errors.As(err, &status) || status.Code < 400 || status.Code >= 500 || status.Code == http.StatusTooManyRequests ||
		status.Code == http.StatusForbidden || status.Code == http.StatusUnauthorized {
		return err
	}
	m.count(func(s *MarketsStatus) { s.Unknown["cursor refused"]++ })
	_, errCommit := m.o.Venue.Commit(ctx, ingest.Rows{Name: name, Within: cursorOf(name, start)}, ingest.Remaining{})
	return errors.Join(err, errCommit)
}

// cursor reads a stored cursor into to, which is unchanged if there is none that can be read.
func (m *Markets) cursor(ctx context.Context, name string, to any) error {
	var text string
	err := m.o.Venue.Read(ctx, func(conn *sql.Conn) (err error) {
		text, err = ledger.Cursor(ctx, conn, name)
		return err
	})
	if err == nil && text != "" && json.Unmarshal([]byte(text), to) != nil {
		m.count(func(s *MarketsStatus) { s.Unknown[name]++ })
	}
	return err
}

// cursorOf returns a function that stores a cursor within a transaction.
func cursorOf(name string, state any) func(context.Context, *sql.Conn) error {
	text, err := json.Marshal(state)
	return func(ctx context.Context, conn *sql.Conn) error {
		if err != nil {
			return err
		}
		return ledger.SetCursor(ctx, conn, name, string(text))
	}
}
