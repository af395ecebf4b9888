package rollups

import (
	"bytes"
	"cmp"

	"pmx/data"
	"pmx/rollups/serving"
)

// traderLeaderboard ranks wallets by the period's real_pnl, ties by volume, then
// address.
func (l *Live) traderLeaderboard(p serving.Period) []serving.TraderRow {
	window := &l.walletWindows[p]
	excluded := func(id int32) bool { return l.excluded[data.WalletID(id)] }
	first := window.first.first(serving.LeaderboardSize, &contest{
		all: func(yield func(int32, data.Micro) bool) {
			for id, w := range window.rows.all() {
				if !excluded(id) && !yield(id, w.pnl()) {
					return
				}
			}
		},
		figure: func(id int32) (data.Micro, bool) {
			w := window.rows.of(id)
			if w == nil || excluded(id) {
				return 0, false
			}
			return w.pnl(), true
		},
		compare: func(a, b int32) int {
			x, y := window.rows.of(a), window.rows.of(b)
			if c := cmp.Or(cmp.Compare(y.pnl(), x.pnl()), cmp.Compare(y.volume(), x.volume())); c != 0 {
				return c
			}
			return l.compareAddress(data.WalletID(a), data.WalletID(b))
		},
	})
	out := make([]serving.TraderRow, 0, len(first))
	for i := range first {
		id, w := data.WalletID(first[i]), window.rows.of(first[i])
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
