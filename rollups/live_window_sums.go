package rollups

import (
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
	first  leaders
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
	w.first.touch(int32(id))
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

// tokenWindowRow is a row of token_window.
type tokenWindowRow struct {
	Token data.TokenID   `sql:"token"`
	Span  serving.Period `sql:"span"`
	legs
}

func (l *Live) addTokenWindow(row *tokenWindowRow) {
	l.touchToken(row.Token)
	l.tokenWindows[row.Span].add(row)
}
