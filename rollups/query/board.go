package query

import (
	"context"
	"encoding/hex"
	"strconv"
	"strings"

	"pmx/data"
	"pmx/rollups/serving"
)

// BoardRows gives what wallets came to in a window, in no order.
func (r *Reader) BoardRows(ctx context.Context, q serving.BoardQuery) ([]serving.BoardRow, error) {
	type boardRow struct {
		Wallet         data.WalletID `sql:"wallet"`
		Fills          int64         `sql:"fills"`
		BuyUSD         data.Micro    `sql:"buy_usd"`
		SellUSD        data.Micro    `sql:"sell_usd"`
		FeeUSD         data.Micro    `sql:"fee_usd"`
		Unresolved     data.Micro    `sql:"unresolved"`
		Redemption     data.Micro    `sql:"redemption"`
		Undated        data.Micro    `sql:"undated"`
		UndatedMarkets int64         `sql:"undated_markets"`
	}
	tokens, markets := "true", "true"
	if q.Categories != nil {
		list := textList(q.Categories)
		tokens, markets = statements.Get("BoardTokens", "@categories", list), statements.Get("BoardMarkets", "@categories", list)
	}
	var rows []serving.BoardRow
	fills := "fills"
	if l := r.lake(); l != nil {
		var err error
		if fills, err = l.sumsBetween(q.After, q.UpTo); err != nil {
			return nil, err
		}
	}
	err := each(ctx, r, "BoardSums", func(row *boardRow) { rows = append(rows, serving.BoardRow(*row)) }, "@lo", strconv.FormatInt(q.After, 10),
		"@hi", strconv.FormatInt(q.UpTo, 10), "@batch", strconv.FormatInt(q.Batch, 10), "@tokens", tokens, "@markets", markets, "@fills", fills)
	return rows, err
}

// ProfitDays gives what some wallets made on each UTC day from first up to a time in unix µs, by wallet and
// day; days on which a wallet made nothing may be left out.
func (r *Reader) ProfitDays(ctx context.Context, wallets []data.WalletID, first int32, upTo int64) ([]serving.ProfitDay, error) {
	type profitRow struct {
		Wallet data.WalletID `sql:"wallet"`
		Day    int32         `sql:"day"`
		USD    data.Micro    `sql:"usd"`
	}
	var days []serving.ProfitDay
	err := each(ctx, r, "BoardDays", func(row *profitRow) { days = append(days, serving.ProfitDay(*row)) }, "@which", among("wallet", wallets),
		"@first", strconv.Itoa(int(first)), "@last", strconv.Itoa(int(serving.DayOf(upTo))), "@hi", strconv.FormatInt(upTo, 10))
	return days, err
}

// textList is texts as the literals of a list in SQL.
func textList(texts []string) string {
	list := make([]string, len(texts))
	for i, text := range texts {
		list[i] = "decode(unhex('" + hex.EncodeToString([]byte(text)) + "'))"
	}
	return strings.Join(list, ", ")
}
