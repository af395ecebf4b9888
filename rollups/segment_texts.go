package rollups

import (
	"context"
	"database/sql"
	"fmt"

	"pmx/engine"
	"pmx/rollups/query"
	"pmx/rollups/segments"
	"pmx/rollups/segments/textseg"
	"pmx/rollups/serving"
)

const (
	// marketsPerRead is how many markets' texts are read at once: some tens of megabytes.
	marketsPerRead = 10_000
	// maxChangedTexts is how many markets of an import may have their texts held in memory.
	maxChangedTexts = 20_000
)

// MarketsSince is how many markets the imports after batch created or changed, counted once per
// import; 0 proves that no text changed.
func MarketsSince(ctx context.Context, conn *sql.Conn, batch int64) (n int64, err error) {
	err = conn.QueryRowContext(ctx, statements.Get("MarketsSince", "@batch", itoa(batch))).Scan(&n)
	return n, err
}

// MarketCount returns how many markets there are, and the largest id plus one.
func MarketCount(ctx context.Context, conn *sql.Conn) (markets, ids int64, err error) {
	err = conn.QueryRowContext(ctx, statements.Get("MarketCount")).Scan(&markets, &ids)
	return markets, ids, err
}

// TextSegmentFits reports whether a segment is of this database and still holds its texts.
func TextSegmentFits(ctx context.Context, conn *sql.Conn, c segments.Coverage) (bool, error) {
	if ours, err := sameHistory(ctx, conn, c); !ours || err != nil {
		return false, err
	}
	changed, err := MarketsSince(ctx, conn, c.Batch)
	if err != nil || changed > 0 {
		return false, err
	}
	markets, _, err := MarketCount(ctx, conn)
	return markets == c.Facts, err
}

// ChangedTexts returns the texts of the markets that the batch merged last on conn made or changed;
// false if there are too many to hold.
func ChangedTexts(ctx context.Context, conn *sql.Conn) (changed map[int32]serving.MarketTexts, few bool, err error) {
	var n int64
	if err := conn.QueryRowContext(ctx, statements.Get("ChangedMarkets")).Scan(&n); err != nil || n == 0 || n > maxChangedTexts {
		return nil, n == 0, err
	}
	changed = make(map[int32]serving.MarketTexts, n)
	err = eachRow(statements.Get("ChangedTexts"), func(row *textRow) { changed[row.Market] = row.Texts() })(ctx, conn)
	if err != nil {
		return nil, false, fmt.Errorf("ChangedTexts: %w", err)
	}
	return changed, true, nil
}

// EachMarketTexts passes the texts of every market to add, in order of market.
func EachMarketTexts(ctx context.Context, conn *sql.Conn, add func(market int32, t *serving.MarketTexts) error) error {
	_, ids, err := MarketCount(ctx, conn)
	if err != nil {
		return fmt.Errorf("MarketCount: %w", err)
	}
	for lo := int64(0); lo < ids; lo += marketsPerRead {
		span := statements.Get("TextRange", "@lo", itoa(lo), "@hi", itoa(lo+marketsPerRead))
		err := engine.EachRow(ctx, conn, span, func(row *textRow) error {
			t := row.Texts()
			return add(row.Market, &t)
		})
		if err != nil {
			return fmt.Errorf("TextRange: %w", err)
		}
	}
	return nil
}

// textRow is a row of TextRange or ChangedTexts.
type textRow struct {
	Market int32 `sql:"market"`
	query.TextRow
}

// VerifyTextSegment compares every text of a store with the database. Nothing may be imported
// meanwhile.
func VerifyTextSegment(ctx context.Context, conn *sql.Conn, store *textseg.Store) (Check, error) {
	c := Check{Name: "market_segment", OK: true}
	if err := store.VerifyPages(ctx.Err); err != nil {
		return c, err
	}
	if st := store.Stats(); c.setDamaged(st.Damage) {
		return c, nil
	} else if !st.Ready {
		c.Detail = "no file of markets' texts yet: they are read from the database"
		return c, nil
	}
	batch := store.Through()
	err := EachMarketTexts(ctx, conn, func(market int32, t *serving.MarketTexts) error {
		c.Rows++
		if got, known := store.Texts(market, batch); !known || got != *t {
			c.Bad++
		}
		return ctx.Err()
	})
	if c.OK = c.Bad == 0; !c.OK {
		c.Detail = fmt.Sprintf("the texts of %d markets in segments/markets.seg differ from the database: pmx rebuild writes it again", c.Bad)
	}
	return c, err
}
