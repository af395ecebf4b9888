package rollups

import (
	"context"
	"database/sql"
	"fmt"
	"strconv"

	"pmx/data"
	"pmx/engine"
)

// whaleVertical keeps the large orders, including those of the venue's own wallets, which are left
// out when they are served.
func whaleVertical() vertical {
	return vertical{
		tables: []table{{name: "whale_move", delta: "DeltaWhaleMove", rebuild: "RebuildWhaleMove", by: byWhaleTime, with: withFills,
			keys: []string{"ts", "wallet", "token", "side", "tx"}, sums: []string{"fills", "shares", "usd"}}},
		before:    whaleBefore,
		inputs:    whaleInputs,
		temporary: []string{"whale_all"},
		section:   func() section { return &whaleSection{} },
	}
}

// whaleBefore reads the batch's orders as they are without the batch. For a batch that is newer
// than all facts there are none, and it reads nothing.
func whaleBefore(m *merge) error {
	if m.fills == 0 || m.sums != nil {
		return nil
	}
	if err := m.exec("WhaleBeforeEmpty"); err != nil || m.oldest > m.from {
		return err
	}
	var ranges sql.NullString
	query := statements.Get("WhaleRanges", "@from", strconv.FormatInt(m.from, 10))
	if err := m.conn.QueryRowContext(m.ctx, query).Scan(&ranges); err != nil {
		return fmt.Errorf("WhaleRanges: %w", err)
	}
	if !ranges.Valid {
		return nil
	}
	return m.exec("WhaleBefore", "@ranges", ranges.String)
}

// mostOrders is for how many fills orders are searched at once.
const mostOrders = 8_000_000

// whaleChunk is a row of WhaleChunks: a span of time in microseconds, without its end.
type whaleChunk struct {
	Lo int64 `sql:"lo"`
	Hi int64 `sql:"hi"`
}

// whaleInputs finds the orders of all facts, one span of time after another.
func whaleInputs(b *rebuilder) error {
	queries := []string{statements.Get("WhaleAllEmpty")}
	err := engine.EachRow(b.ctx, b.conn, statements.Get("WhaleChunks", "@suffix", b.suffix, "@rows", strconv.FormatInt(min(mostOrders, b.chunker.rows), 10)), func(row *whaleChunk) error {
		queries = append(queries, statements.Get("WhaleAll", "@lo", itoa(row.Lo), "@hi", itoa(row.Hi)))
		return nil
	})
	if err != nil {
		return fmt.Errorf("WhaleChunks: %w", err)
	}
	for _, query := range queries {
		if err := b.exec(query); err != nil {
			return fmt.Errorf("whale moves: %w", err)
		}
	}
	return nil
}

// WhaleRule returns the smallest order in dollars that is a whale move.
func WhaleRule(ctx context.Context, conn *sql.Conn) (least data.Micro, err error) {
	if err := conn.QueryRowContext(ctx, statements.Get("WhaleRule")).Scan(&least); err != nil {
		return 0, fmt.Errorf("whale rule: %w", err)
	}
	return least, nil
}

// SetWhaleRule makes orders of at least least whale moves; least must be above 0. It makes the
// rollups stale: only a rebuild finds the moves in existing facts.
func SetWhaleRule(ctx context.Context, conn *sql.Conn, least data.Micro) error {
	for _, query := range []string{statements.Get("MarkStale"), statements.Get("SetWhaleRule", "@min", strconv.FormatInt(int64(least), 10))} {
		if _, err := conn.ExecContext(ctx, query); err != nil {
			return fmt.Errorf("whale rule: %w", err)
		}
	}
	return nil
}
