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

// Leaderboards returns the figures of all wallets in the windows of all periods and in those before them. It reads all fills
// of these windows, at low priority. They take most bytes.
func (r *Reader) Leaderboards(ctx context.Context, upTo, batch, most int64) (*serving.Leaderboards, error) {
	type sumRow struct {
		Category       string        `sql:"category"`
		Age            int32         `sql:"age"`
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
	cuts := serving.LeaderboardCuts(upTo)
	lo := cuts[len(cuts)-1]
	fills := "fills"
	if l := r.lake(); l != nil {
		var err error
		if fills, err = l.sumsBetween(lo, upTo); err != nil {
			return nil, err
		}
	}
	leaderboards := serving.NewLeaderboards(upTo, most)
	query := statements.Get("LeaderboardSums", "@lo", strconv.FormatInt(lo, 10), "@hi", strconv.FormatInt(upTo, 10), "@batch", strconv.FormatInt(batch, 10),
		"@fillage", leaderboardAge("f.ts", cuts), "@redemptionage", leaderboardAge("r.resolved_at", cuts), "@undatedage", leaderboardAge("u.last_ts", cuts), "@fills", fills)
	err := r.DB.ReadLowPriority(ctx, func(conn *sql.Conn) error {
		return engine.EachRow(ctx, conn, query, func(p *sumRow) error {
			return leaderboards.Add(int(p.Age), p.Category, &serving.LeaderboardRow{Wallet: p.Wallet, Fills: p.Fills, BuyUSD: p.BuyUSD, SellUSD: p.SellUSD, FeeUSD: p.FeeUSD,
				Unresolved: p.Unresolved, Redemption: p.Redemption, Undated: p.Undated, UndatedMarkets: p.UndatedMarkets})
		})
	})
	if err != nil {
		return nil, fmt.Errorf("LeaderboardSums: %w", err)
	}
	return leaderboards, nil
}

// leaderboardAge returns the SQL for the age of a time, given the instants that divide the windows.
func leaderboardAge(at string, cuts []int64) string {
	replace := []string{"@at", at}
	for i, cut := range cuts[:len(cuts)-1] { // nothing is older than the last
		replace = append(replace, "@cut"+strconv.Itoa(i), strconv.FormatInt(cut, 10))
	}
	return statements.Get("LeaderboardAge", replace...)
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
