package rollups

import "pmx/data"

// What the snapshot needs of a batch that was summed up in Go: the same rows that queries of
// distinct_counts.sql, live.sql and others read from temporary tables.

func madeWalletTotals(b *batchSums) []walletTotalRow { return b.walletTotals.rows }

func madeTokenTotals(b *batchSums) []tokenTotalRow { return b.tokenTotals.rows }

func (b *batchSums) priceRows() []priceRow {
	rows := make([]priceRow, len(b.prices.rows))
	for i, p := range b.prices.rows {
		rows[i] = priceRow{Token: p.token, TS: p.last.ts, Log: p.last.log, Price: p.last.price,
			AgoTS: p.dayAgo.ts, AgoLog: p.dayAgo.log, AgoPrice: p.dayAgo.price}
	}
	return rows
}

func (b *batchSums) weekRows() []weekWalletsRow {
	return countRows(b.weeks, func(week, n int64) weekWalletsRow { return weekWalletsRow{week, n} })
}

func (b *batchSums) monthRows() []monthWalletsRow {
	return countRows(b.months, func(month, n int64) monthWalletsRow { return monthWalletsRow{month, n} })
}

// hourWallets are who traded in which hour from first on.
func (b *batchSums) hourWallets(first int64) []hourWalletRow {
	rows := make([]hourWalletRow, 0, len(b.fills))
	for i := range b.fills {
		if hour := b.fills[i].TS / hourLength; hour >= first {
			rows = append(rows, hourWalletRow{hour, b.fills[i].Wallet})
		}
	}
	return rows
}

// holdersAmong are the tokens that some wallets trade.
func (b *batchSums) holdersAmong(wallets map[data.WalletID]bool) (rows []holder) {
	for i := range b.positions.rows {
		if h := b.positions.rows[i].holder; wallets[h.Wallet] {
			rows = append(rows, h)
		}
	}
	return rows
}

// daysAmong are the days on which some wallets trade.
func (b *batchSums) daysAmong(wallets map[data.WalletID]bool) (rows []dayWalletRow) {
	for i := range b.walletDays.rows {
		if d := b.walletDays.rows[i].dayWalletRow; wallets[d.Wallet] {
			rows = append(rows, d)
		}
	}
	return rows
}

// movesSince are the moves after a time.
func (b *batchSums) movesSince(since int64) (rows []whaleMoveRow) {
	for i := range b.whaleMoves {
		if b.whaleMoves[i].TS > since {
			rows = append(rows, b.whaleMoves[i])
		}
	}
	return rows
}

// tokenDaysSince are the days of tokens from one day on.
func (b *batchSums) tokenDaysSince(first int32) (rows []tokenDayRow) {
	for i := range b.tokenDays.rows {
		if b.tokenDays.rows[i].Day >= first {
			rows = append(rows, b.tokenDays.rows[i])
		}
	}
	return rows
}

func (b *batchSums) longRows() []longWindowRow {
	rows := make([]longWindowRow, len(b.long))
	for i := range b.long {
		rows[i] = longWindowRow{i, b.long[i]}
	}
	return rows
}
