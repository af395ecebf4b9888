package rollups

import (
	"bytes"
	"cmp"

	"pmx/data"
	"pmx/rollups/serving"
)

// walletPeriod is what one wallet did in a window.
type walletPeriod struct {
	wallet                     data.WalletID
	fills                      int64
	buy, sell, fee, redemption data.Micro
	undated                    data.Micro // of markets resolved at an unknown time
	undatedMarkets             int64
}

func (w *walletPeriod) pnl() data.Micro    { return w.sell - w.buy - w.fee + w.redemption }
func (w *walletPeriod) volume() data.Micro { return w.buy + w.sell }

// walletWindow holds the wallets that did anything in a window, densely.
type walletWindow struct {
	index  map[data.WalletID]int
	rows   []walletPeriod
	active int64 // rows with a fill: others have a redemption only
}

func newWalletWindow() walletWindow { return walletWindow{index: map[data.WalletID]int{}} }

// walletWindowRow is a row of wallet_window.
type walletWindowRow struct {
	Wallet         data.WalletID  `sql:"wallet"`
	Span           serving.Period `sql:"span"`
	Fills          int64          `sql:"fills"`
	Buy            data.Micro     `sql:"buy_usd"`
	Sell           data.Micro     `sql:"sell_usd"`
	Fee            data.Micro     `sql:"fee_usd"`
	Redemption     data.Micro     `sql:"redemption"`
	Undated        data.Micro     `sql:"undated,null"`
	UndatedMarkets int64          `sql:"undated_markets,null"`
}

func (w *walletWindow) add(row *walletWindowRow) {
	id := row.Wallet
	i, known := w.index[id]
	if !known {
		i = len(w.rows)
		w.index[id] = i
		w.rows = append(w.rows, walletPeriod{wallet: id})
	}
	p := &w.rows[i]
	if p.fills > 0 {
		w.active--
	}
	p.fills += row.Fills
	if p.fills > 0 {
		w.active++
	}
	p.buy += row.Buy
	p.sell += row.Sell
	p.fee += row.Fee
	p.redemption += row.Redemption
	p.undated += row.Undated
	p.undatedMarkets += row.UndatedMarkets
	if *p == (walletPeriod{wallet: id}) {
		w.remove(i)
	}
}

func (w *walletWindow) remove(i int) {
	last := len(w.rows) - 1
	delete(w.index, w.rows[i].wallet)
	if i != last {
		w.rows[i] = w.rows[last]
		w.index[w.rows[i].wallet] = i
	}
	w.rows = w.rows[:last]
}

// tokenWindow holds the tokens traded in a window.
type tokenWindow struct {
	rows map[data.TokenID]*legs
	sum  legs
}

func newTokenWindow() tokenWindow { return tokenWindow{rows: map[data.TokenID]*legs{}} }

func (w *tokenWindow) add(row *tokenWindowRow) {
	l := w.rows[row.Token]
	if l == nil {
		l = &legs{}
		w.rows[row.Token] = l
	}
	l.plus(&row.legs)
	w.sum.plus(&row.legs)
	if *l == (legs{}) {
		delete(w.rows, row.Token)
	}
}

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
	for i := range rows {
		if !l.excluded[rows[i].wallet] {
			best.offer(&rows[i])
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
