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
	at := func(id int32) *walletPeriod { return &window.rows[window.index[data.WalletID(id)]] }
	first := window.first.first(serving.LeaderboardSize, &contest{
		all: func(yield func(int32, data.Micro) bool) {
			for i := range window.rows {
				if w := &window.rows[i]; !l.excluded[w.wallet] && !yield(int32(w.wallet), w.pnl()) {
					return
				}
			}
		},
		figure: func(id int32) (data.Micro, bool) {
			i, there := window.index[data.WalletID(id)]
			if !there || l.excluded[data.WalletID(id)] {
				return 0, false
			}
			return window.rows[i].pnl(), true
		},
		compare: func(a, b int32) int {
			x, y := at(a), at(b)
			if c := cmp.Or(cmp.Compare(y.pnl(), x.pnl()), cmp.Compare(y.volume(), x.volume())); c != 0 {
				return c
			}
			return l.compareAddress(x.wallet, y.wallet)
		},
	})
	out := make([]serving.TraderRow, 0, len(first))
	for i := range first {
		w := at(first[i])
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
