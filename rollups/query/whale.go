package query

import (
	"context"
	"database/sql/driver"
	"encoding/hex"
	"fmt"
	"math"
	"strconv"
	"strings"

	"pmx/data"
	"pmx/engine"
	"pmx/rollups/serving"
)

// WhaleMoves gives the n newest whale moves up to end, unix µs, that stand before a
// move (nil: all) and pass the filter, newest first.
func (r *Reader) WhaleMoves(ctx context.Context, f serving.MoveFilter, end int64, before *serving.Move, n int) ([]serving.Move, error) {
	at := serving.Move{TS: math.MaxInt64}
	if before != nil {
		at = *before
		end = min(end, before.TS)
	}
	tx := ""
	if !at.Tx.IsZero() {
		tx = hex.EncodeToString(at.Tx[:])
	}
	if strings.Trim(at.TokenID, "0123456789") != "" {
		return nil, fmt.Errorf("token id %q is no number", at.TokenID)
	}
	var moves []serving.Move
	err := r.each(ctx, "WhaleMoves", func(row []driver.Value) {
		m := serving.Move{TS: engine.Int(row[0]), TokenID: engine.Text(row[3]), Side: data.Side(engine.Int(row[4])),
			WalletID: data.WalletID(engine.Int(row[5])), Token: data.TokenID(engine.Int(row[6])), Fills: engine.Int(row[7]),
			Shares: amount(row[8]), USD: amount(row[9])}
		copy(m.Tx[:], row[1].([]byte))
		copy(m.Wallet[:], row[2].([]byte))
		moves = append(moves, m)
	}, "@moves", movesOf(f, end), "@ts", strconv.FormatInt(at.TS, 10), "@tx", tx, "@address", hex.EncodeToString(at.Wallet[:]),
		"@token_id", at.TokenID, "@side", strconv.Itoa(int(at.Side)), "@limit", strconv.Itoa(n))
	return moves, err
}

// movesOf is the query of all moves that pass a filter, up to end.
func movesOf(f serving.MoveFilter, end int64) string {
	which := []string{"ts <= " + strconv.FormatInt(end, 10)}
	if f.Side >= 0 {
		which = append(which, "side = "+strconv.Itoa(int(f.Side)))
	}
	if f.Wallet >= 0 {
		which = append(which, "wallet = "+strconv.Itoa(int(f.Wallet)))
	}
	if f.Tokens != nil {
		which = append(which, among("token", f.Tokens))
	}
	if len(f.Excluded) > 0 {
		which = append(which, "NOT "+among("wallet", f.Excluded))
	}
	if f.Categories != nil {
		texts := make([]string, len(f.Categories))
		for i, c := range f.Categories {
			texts[i] = "decode(unhex('" + hex.EncodeToString([]byte(c)) + "'))"
		}
		which = append(which, statements.Get("WhaleCategory", "@categories", strings.Join(texts, ", ")))
	}
	return statements.Get("WhaleMovesOf", "@which", strings.Join(which, " AND "), "@min", strconv.FormatInt(int64(f.MinUSD), 10))
}
