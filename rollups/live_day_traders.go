package rollups

import (
	"context"
	"database/sql"
	"slices"
	"strconv"
	"strings"

	"pmx/data"
)

// dayTraders counts the distinct wallets of each market in the last 24 hours. It is updated with
// the fills that enter and leave that window, so it needs no table.
type dayTraders struct {
	fillsByHolder map[holder]int32
	count         []int32 // by market
	affected      []int32 // markets whose tokens changed since the last settle
}

// holder is a wallet that trades a token.
type holder struct {
	Token  data.TokenID  `sql:"token"`
	Wallet data.WalletID `sql:"wallet"`
}

// dayHolderRow is a row of LoadDayHolders or BatchDayHolders.
type dayHolderRow struct {
	holder
	Fills int32 `sql:"fills"`
}

func newDayTraders() dayTraders { return dayTraders{fillsByHolder: map[holder]int32{}} }

func (d *dayTraders) traders(market int32) int32 {
	if int(market) >= len(d.count) {
		return 0
	}
	return d.count[market]
}

func (d *dayTraders) change(market, by int32) {
	for int(market) >= len(d.count) {
		d.count = append(d.count, 0)
	}
	d.count[market] += by
}

// remapped notes that a traded token moved from one market to another; −1 is none.
func (d *dayTraders) remapped(markets ...int32) {
	for _, m := range markets {
		if m >= 0 && !slices.Contains(d.affected, m) {
			d.affected = append(d.affected, m)
		}
	}
}

// add adds n fills of a token by a wallet; n may be negative.
func (d *dayTraders) add(l *Live, key holder, n int32) {
	before := d.fillsByHolder[key]
	if before+n == 0 {
		delete(d.fillsByHolder, key)
	} else {
		d.fillsByHolder[key] = before + n
	}
	market := l.tokens[key.Token].market
	if market < 0 || (before == 0) == (before+n == 0) {
		return
	}
	for _, other := range l.catalog.Tokens(market) {
		if other != key.Token && d.fillsByHolder[holder{other, key.Wallet}] != 0 {
			return // counted before and after
		}
	}
	by := int32(1)
	if before != 0 {
		by = -1
	}
	d.change(market, by)
	l.catalog.Touch(market)
}

// settle recounts the markets whose tokens changed.
func (d *dayTraders) settle(l *Live) {
	if len(d.affected) == 0 {
		return
	}
	wallets := map[int32]map[data.WalletID]bool{}
	for _, m := range d.affected {
		wallets[m] = map[data.WalletID]bool{}
	}
	for key := range d.fillsByHolder {
		if set := wallets[l.tokens[key.Token].market]; set != nil {
			set[key.Wallet] = true
		}
	}
	for _, m := range d.affected {
		d.change(m, int32(len(wallets[m]))-d.traders(m))
		l.catalog.Touch(m)
	}
	d.affected = nil
}

// followDay applies the fills that entered or left the last 24 hours: all of them (whole) or those
// of the batch merged last. All tokens are mapped by then.
func (l *Live) followDay(ctx context.Context, conn *sql.Conn, whole bool) error {
	query := statements.Get("BatchDayHolders")
	if whole {
		query = statements.Get("LoadDayHolders", "@fills", allFills(l.progress.asOf-dayLength), "@lo", dayAgo(l.progress.asOf), "@hi", strconv.FormatInt(l.progress.asOf, 10))
	}
	err := eachAdded(l, func(b *batchSums) []dayHolderRow { return b.dayHolders.rows }, query, func(row *dayHolderRow) {
		if row.Fills != 0 && !l.excluded[row.Wallet] {
			l.day.add(l, row.holder, row.Fills)
		}
	})(ctx, conn)
	l.day.settle(l)
	return err
}

// followVenue notes which tokens the venue's own wallets traded: these wallets never count as
// traders.
func (l *Live) followVenue(ctx context.Context, conn *sql.Conn, whole bool) error {
	if len(l.excluded) == 0 {
		return nil
	}
	wallets := make([]string, 0, len(l.excluded))
	for id := range l.excluded {
		wallets = append(wallets, strconv.Itoa(int(id)))
	}
	rows := statements.Get("BatchHolders")
	if whole {
		rows = statements.Get("LoadHolders")
	}
	query := statements.Get("LoadHeldBy", "@rows", rows, "@wallets", strings.Join(wallets, ","))
	return eachAdded(l, func(b *batchSums) []holder { return b.holdersAmong(l.excluded) }, query, func(row *holder) {
		if !slices.Contains(l.venueTraded[row.Token], row.Wallet) {
			l.venueTraded[row.Token] = append(l.venueTraded[row.Token], row.Wallet)
		}
		l.touchToken(row.Token)
	})(ctx, conn)
}
