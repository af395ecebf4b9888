package rollups

import (
	"bytes"
	"cmp"
	"database/sql/driver"

	"pmx/data"
	"pmx/engine"
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

// add takes a row (wallet, span, fills, buy_usd, sell_usd, fee_usd, redemption,
// undated, undated_markets).
func (w *walletWindow) add(row []driver.Value) {
	id := data.WalletID(engine.Int(row[0]))
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
	p.fills += engine.Int(row[2])
	if p.fills > 0 {
		w.active++
	}
	p.buy += data.Micro(engine.Int(row[3]))
	p.sell += data.Micro(engine.Int(row[4]))
	p.fee += data.Micro(engine.Int(row[5]))
	p.redemption += data.Micro(engine.Int(row[6]))
	p.undated += data.Micro(engine.Int(row[7]))
	p.undatedMarkets += engine.Int(row[8])
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

// add takes a row (token, span, six legs).
func (w *tokenWindow) add(row []driver.Value) {
	id := data.TokenID(engine.Int(row[0]))
	l := w.rows[id]
	if l == nil {
		l = &legs{}
		w.rows[id] = l
	}
	l.add(row[2:8])
	w.sum.add(row[2:8])
	if *l == (legs{}) {
		delete(w.rows, id)
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
