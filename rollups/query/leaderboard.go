package query

import (
	"context"
	"database/sql"
	"fmt"
	"strconv"

	"pmx/data"
	"pmx/engine"
	"pmx/rollups/serving"
)

// sumRow is a row of LeaderboardSums.
type sumRow struct {
	Category       string        `sql:"category"`
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

// Leaderboards returns the figures of all wallets in the windows of all periods and in those before them. It reads all fills
// of these windows, at low priority, and the stretches of time between their ends one after the other: together they would take
// several times as much of DuckDB's memory. The result takes most bytes.
func (r *Reader) Leaderboards(ctx context.Context, upTo, batch, most int64) (*serving.Leaderboards, error) {
	leaderboards, lake := serving.NewLeaderboards(upTo, most), r.lake() // one lake for all stretches: another may be taken
	err := r.DB.ReadLowPriority(ctx, func(conn *sql.Conn) error {
		return engine.InTx(ctx, conn, func() error { // all of them see the same state
			hi := upTo
			for age, lo := range serving.LeaderboardCuts(upTo) {
				if err := addLeaderboards(ctx, conn, lake, leaderboards, age, [2]int64{lo, hi}, batch); err != nil {
					return err
				}
				hi = lo
			}
			return nil
		})
	})
	if err != nil {
		return nil, fmt.Errorf("LeaderboardSums: %w", err)
	}
	return leaderboards, nil
}

// addLeaderboards adds the figures of one stretch of time, after its beginning and up to its end.
func addLeaderboards(ctx context.Context, conn *sql.Conn, lake *Lake, leaderboards *serving.Leaderboards, age int, of [2]int64, batch int64) (err error) {
	fills := factsBetween(of[0], of[1])
	if lake != nil {
		if fills, err = lake.sumsBetween(of[0], of[1]); err != nil {
			return err
		}
	}
	query := statements.Get("LeaderboardSums", "@lo", strconv.FormatInt(of[0], 10), "@hi", strconv.FormatInt(of[1], 10), "@batch", strconv.FormatInt(batch, 10), "@fills", fills)
	return engine.EachRow(ctx, conn, query, func(p *sumRow) error {
		return leaderboards.Add(age, p.Category, &serving.LeaderboardRow{Wallet: p.Wallet, Fills: p.Fills, BuyUSD: p.BuyUSD, SellUSD: p.SellUSD, FeeUSD: p.FeeUSD,
			Unresolved: p.Unresolved, Redemption: p.Redemption, Undated: p.Undated, UndatedMarkets: p.UndatedMarkets})
	})
}

// ProfitDays returns the profit of some wallets on each UTC day from first up to a time in unix µs, by
// wallet and day; days with no profit may be left out.
func (r *Reader) ProfitDays(ctx context.Context, wallets []data.WalletID, first int32, upTo int64) ([]serving.ProfitDay, error) {
	type profitRow struct {
		Wallet data.WalletID `sql:"wallet"`
		Day    int32         `sql:"day"`
		USD    data.Micro    `sql:"usd"`
	}
	var days []serving.ProfitDay
	err := each(ctx, r, "LeaderboardDays", func(row *profitRow) { days = append(days, serving.ProfitDay(*row)) }, "@which", among("wallet", wallets),
		"@first", strconv.Itoa(int(first)), "@last", strconv.Itoa(int(serving.DayOf(upTo))), "@hi", strconv.FormatInt(upTo, 10))
	return days, err
}
