package rollups

import (
	"pmx/data"
	"pmx/rollups/serving"
)

// walletPeriod is what one wallet did in a window.
type walletPeriod struct {
	fills                      int64
	buy, sell, fee, redemption data.Micro
	undated                    data.Micro // of markets resolved at an unknown time
	undatedMarkets             int64
}

func (w *walletPeriod) pnl() data.Micro    { return w.sell - w.buy - w.fee + w.redemption }
func (w *walletPeriod) volume() data.Micro { return w.buy + w.sell }

// walletWindow holds the wallets that did anything in a window.
type walletWindow struct {
	rows   rowsByID[walletPeriod]
	active int64 // rows with a fill: others have a redemption only
	first  leaders
}

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
	id := int32(row.Wallet)
	w.first.touch(id)
	p := w.rows.edit(id)
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
	if *p == (walletPeriod{}) {
		w.rows.remove(id)
	}
}

// tokenWindow holds the tokens traded in a window.
type tokenWindow struct {
	rows rowsByID[legs]
	sum  legs
}

func (w *tokenWindow) add(row *tokenWindowRow) {
	l := w.rows.edit(int32(row.Token))
	l.plus(&row.legs)
	w.sum.plus(&row.legs)
	if *l == (legs{}) {
		w.rows.remove(int32(row.Token))
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
