package query

import (
	"context"
	"encoding/hex"
	"fmt"
	"math"
	"strconv"
	"strings"

	"pmx/data"
	"pmx/rollups/serving"
)

// WhaleMoves returns the n newest whale moves up to end, unix µs, older than a move (nil: all) that
// pass the filter, newest first.
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
		return nil, fmt.Errorf("token id %q is not a number", at.TokenID)
	}
	var moves []serving.Move
	type moveRow struct {
		TS      int64         `sql:"ts"`
		Tx      data.Hash     `sql:"tx,null"`
		Address data.Address  `sql:"address"`
		TokenID string        `sql:"token_id"`
		Side    data.Side     `sql:"side"`
		Wallet  data.WalletID `sql:"wallet"`
		Token   data.TokenID  `sql:"token"`
		Fills   int64         `sql:"fills"`
		Shares  data.Micro    `sql:"shares"`
		USD     data.Micro    `sql:"usd"`
	}
	err := each(ctx, r, "WhaleMoves", func(row *moveRow) {
		moves = append(moves, serving.Move{TS: row.TS, Tx: row.Tx, Wallet: row.Address, TokenID: row.TokenID, Side: row.Side,
			WalletID: row.Wallet, Token: row.Token, Fills: row.Fills, Shares: row.Shares, USD: row.USD})
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
		which = append(which, statements.Get("WhaleCategory", "@categories", textList(f.Categories)))
	}
	return statements.Get("WhaleMovesOf", "@which", strings.Join(which, " AND "), "@min", strconv.FormatInt(int64(f.MinUSD), 10))
}

// textList is texts as the literals of a list in SQL.
func textList(texts []string) string {
	list := make([]string, len(texts))
	for i, text := range texts {
		list[i] = "decode(unhex('" + hex.EncodeToString([]byte(text)) + "'))"
	}
	return strings.Join(list, ", ")
}
