package rollups

import (
	"bytes"
	"context"
	"database/sql"
	"encoding/hex"
	"fmt"
	"strconv"

	"pmx/data"
	"pmx/engine"
)

// StoreQuotes stores, in one transaction, the quotes of open markets that have no later quote, and
// returns how many these are. quotes has each market once. A book whose bid is above its ask is
// ignored.
func StoreQuotes(ctx context.Context, conn *sql.Conn, quotes []data.Quote) (stored int64, err error) {
	var rows bytes.Buffer
	for i := range quotes {
		q := &quotes[i]
		if q.At.UnixMicro() <= 0 {
			return 0, fmt.Errorf("the quote of %s has no time", q.Condition)
		}
		if q.Bid != nil && q.Ask != nil && *q.Bid > *q.Ask {
			continue
		}
		if rows.Len() > 0 {
			rows.WriteByte(',')
		}
		fmt.Fprintf(&rows, "('%s',%s,%s,%s,%d)", hex.EncodeToString(q.Condition[:]), whole(q.Bid), whole(q.Ask), whole(q.Last), q.At.UnixMicro())
	}
	if rows.Len() == 0 {
		return 0, nil
	}
	err = engine.InTx(ctx, conn, func() error {
		for _, text := range []string{statements.Get("QuotesTold", "@rows", rows.String()), statements.Get("DropQuotesTold"), statements.Get("AddQuotesTold")} {
			if _, err := conn.ExecContext(ctx, text); err != nil {
				return err
			}
		}
		return conn.QueryRowContext(ctx, statements.Get("CountQuotesTold")).Scan(&stored)
	})
	if err != nil {
		return 0, fmt.Errorf("quotes: %w", err)
	}
	return stored, nil
}

// whole is an amount as a SQL literal.
func whole(m *data.Micro) string {
	if m == nil {
		return "NULL"
	}
	return strconv.FormatInt(int64(*m), 10)
}

// FollowQuotes shows what StoreQuotes stored last on conn.
func (l *Live) FollowQuotes(ctx context.Context, conn *sql.Conn) error {
	if l.walletBuilder == nil || l.incomplete {
		return l.Load(ctx, conn)
	}
	s, err := readProgress(ctx, conn)
	if err != nil {
		return err
	}
	if s.stale {
		return nil // the next Load after the rebuild reads everything
	}
	if s.epoch != l.progress.epoch {
		return l.Load(ctx, conn) // a batch passed by unseen
	}
	l.incomplete, l.next = true, s
	if err := l.loadCatalog(ctx, conn, "market IN (SELECT market FROM n_quote)"); err != nil {
		return err
	}
	l.quoted++
	err = l.publish(ctx, conn)
	l.incomplete = err != nil
	return err
}
