package apitest

import (
	"fmt"

	"pmx/data"
	"pmx/rollups/serving"
)

// DeskTraders returns a synthetic ranking of n wallets in both orders: the second is the reverse of
// the first.
func DeskTraders(n int) *serving.DeskTraders {
	t := &serving.DeskTraders{Total: n + 3}
	for i := range n {
		left := int64(n - i)
		row := serving.DeskTraderRow{Rank: i + 1, Wallet: Wallet(i), DeskFigures: serving.DeskFigures{
			Fills: left, Markets: 7, ResolvedMarkets: int32(3 * (i % 2)), WinningMarkets: int32(i % 2),
			BuyUSD: data.Micro(i%5) * data.One, SellUSD: data.Micro(i+6) * data.One, FeeUSD: 11, Redemption: data.Micro(left) * 2 * data.One,
			FirstTS: AsOf.UnixMicro() - 1_000_000, LastTS: AsOf.UnixMicro(),
		}}
		if i%3 == 0 {
			row.Name = fmt.Sprintf("trader %d", i)
		}
		t.Leaderboards[serving.ByRealPnL] = append(t.Leaderboards[serving.ByRealPnL], row)
	}
	for i := range n {
		row := t.Leaderboards[serving.ByRealPnL][n-1-i]
		row.Rank = i + 1
		t.Leaderboards[serving.ByVolume] = append(t.Leaderboards[serving.ByVolume], row)
	}
	return t
}
