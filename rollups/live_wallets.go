package rollups

import (
	"pmx/data"
	"pmx/rollups/serving"
)

// walletRow is a row of LoadWallets.
type walletRow struct {
	Wallet  data.WalletID `sql:"wallet"`
	Address data.Address  `sql:"address"`
}

// addWallet adds a wallet, as soon as all wallets with smaller ids are added.
func (l *Live) addWallet(row *walletRow) {
	if l.Venue[row.Address] {
		l.excluded[row.Wallet] = true
	}
	wallets := l.walletBuilder.Wallets()
	if int(row.Wallet) != wallets.Len() {
		if l.early == nil {
			l.early = map[data.WalletID]data.Address{}
		}
		l.early[row.Wallet] = row.Address
		return
	}
	wallets.Add(row.Address)
	for len(l.early) > 0 {
		next := data.WalletID(wallets.Len())
		address, there := l.early[next]
		if !there {
			return
		}
		delete(l.early, next)
		wallets.Add(address)
	}
}

// nameRow is a row of LoadNames.
type nameRow struct {
	Wallet data.WalletID `sql:"wallet"`
	Name   string        `sql:"name"`
}

// walletTotalRow is a row of wallet_total.
type walletTotalRow struct {
	Wallet          data.WalletID `sql:"wallet"`
	Fills           int64         `sql:"fills"`
	MakerFills      int64         `sql:"maker_fills"`
	TakerFills      int64         `sql:"taker_fills"`
	BuyUSD          data.Micro    `sql:"buy_usd"`
	SellUSD         data.Micro    `sql:"sell_usd"`
	FeeUSD          data.Micro    `sql:"fee_usd"`
	ActiveDays      int64         `sql:"days"`
	Markets         int64         `sql:"markets"`
	ResolvedMarkets int64         `sql:"resolved_markets"`
	WinningMarkets  int64         `sql:"winning_markets"`
	NegativeLegs    int64         `sql:"negative_legs"`
	UnmappedFills   int64         `sql:"unmapped_fills"`
	Redemption      data.Micro    `sql:"redemption"`
	UnresolvedCash  data.Micro    `sql:"unresolved_cash"`
	FirstTS         int64         `sql:"first_ts,null"`
	LastTS          int64         `sql:"last_ts,null"`
}

func (l *Live) addTotals(row *walletTotalRow) {
	row.addTo(l.walletBuilder.Edit(row.Wallet))
}

func (r *walletTotalRow) addTo(t *serving.Totals) {
	t.Fills += r.Fills
	t.MakerFills += r.MakerFills
	t.TakerFills += r.TakerFills
	t.BuyUSD += r.BuyUSD
	t.SellUSD += r.SellUSD
	t.FeeUSD += r.FeeUSD
	t.ActiveDays += r.ActiveDays
	t.Markets += r.Markets
	t.ResolvedMarkets += r.ResolvedMarkets
	t.WinningMarkets += r.WinningMarkets
	t.NegativeLegs += r.NegativeLegs
	t.UnmappedFills += r.UnmappedFills
	t.Redemption += r.Redemption
	t.UnresolvedCash += r.UnresolvedCash
	t.NetCash = t.SellUSD - t.BuyUSD - t.FeeUSD
	t.FirstTS, t.LastTS = earlier(t.FirstTS, r.FirstTS), max(t.LastTS, r.LastTS)
}

// earlier is the earlier of two times, 0 for none.
func earlier(ts, other int64) int64 {
	if ts == 0 || other != 0 && other < ts {
		return other
	}
	return ts
}
