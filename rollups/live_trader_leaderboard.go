package rollups

import (
	"bytes"
	"cmp"
	"math"

	"pmx/data"
	"pmx/rollups/serving"
)

// traderLeaderboard ranks wallets by the period's real_pnl, ties by volume, then
// address.
func (l *Live) traderLeaderboard(p serving.Period) []serving.TraderRow {
	best := top[walletPeriod]{n: serving.LeaderboardSize, less: func(a, b *walletPeriod) int {
		if c := cmp.Compare(b.pnl(), a.pnl()); c != 0 {
			return c
		}
		if c := cmp.Compare(b.volume(), a.volume()); c != 0 {
			return c
		}
		return l.compareAddress(a.wallet, b.wallet)
	}}
	rows := l.walletWindows[p].rows
	least := data.Micro(math.MinInt64) // of a full leaderboard: most wallets are below
	for i := range rows {
		if rows[i].pnl() < least || l.excluded[rows[i].wallet] {
			continue
		}
		if best.offer(&rows[i]); best.full() {
			least = best.items[0].pnl()
		}
	}
	out := make([]serving.TraderRow, 0, len(best.items))
	for i, w := range best.sorted() {
		id := w.wallet
		t, _ := l.walletBuilder.Totals(id)
		row := serving.TraderRow{
			Rank: i + 1, Wallet: l.walletBuilder.Wallets().Address(id), Name: l.walletBuilder.Name(id),
			RealPnL: w.pnl(), NetCash: w.sell - w.buy - w.fee, Redemption: w.redemption,
			Undated: w.undated, UndatedMarkets: w.undatedMarkets, BuyUSD: w.buy, SellUSD: w.sell,
			Fills: w.fills, RealPnLAllTime: t.RealPnL(), VolumeAllTime: t.Volume(),
			ResolvedMarkets: t.ResolvedMarkets, WinningMarkets: t.WinningMarkets, FirstTS: t.FirstTS, LastTS: t.LastTS,
		}
		if i > 0 && out[i-1].RealPnL == row.RealPnL {
			row.Rank = out[i-1].Rank
		}
		out = append(out, row)
	}
	return out
}

func (l *Live) compareAddress(a, b data.WalletID) int {
	x, y := l.walletBuilder.Wallets().Address(a), l.walletBuilder.Wallets().Address(b)
	return bytes.Compare(x[:], y[:])
}
