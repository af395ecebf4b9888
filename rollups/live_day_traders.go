package rollups

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"slices"
	"strconv"
	"strings"

	"pmx/data"
	"pmx/engine"
)

// dayTraders counts the distinct wallets of each market in the last 24 hours. It
// follows the fills that enter and leave that window, so it needs no table.
type dayTraders struct {
	fillsByHolder map[holder]int32
	count         []int32 // by market
	affected      []int32 // markets whose tokens changed since the last settle
}

// holder is a wallet that trades a token.
type holder struct {
	token  data.TokenID
	wallet data.WalletID
}

func newDayTraders() dayTraders { return dayTraders{fillsByHolder: map[holder]int32{}} }

// holderOf takes a row that begins with a token and a wallet.
func holderOf(row []driver.Value) holder {
	return holder{data.TokenID(engine.Int(row[0])), data.WalletID(engine.Int(row[1]))}
}

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

// remapped notes that a traded token went from one market to another; −1 is none.
func (d *dayTraders) remapped(markets ...int32) {
	for _, m := range markets {
		if m >= 0 && !slices.Contains(d.affected, m) {
			d.affected = append(d.affected, m)
		}
	}
}

// add takes in n more fills of a token by a wallet, less where n is negative.
func (d *dayTraders) add(l *Live, key holder, n int32) {
	before := d.fillsByHolder[key]
	if before+n == 0 {
		delete(d.fillsByHolder, key)
	} else {
		d.fillsByHolder[key] = before + n
	}
	market := l.tokens[key.token].market
	if market < 0 || (before == 0) == (before+n == 0) {
		return
	}
	for _, other := range l.catalog.Tokens(market) {
		if other != key.token && d.fillsByHolder[holder{other, key.wallet}] != 0 {
			return // counted already, and still
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
		if set := wallets[l.tokens[key.token].market]; set != nil {
			set[key.wallet] = true
		}
	}
	for _, m := range d.affected {
		d.change(m, int32(len(wallets[m]))-d.traders(m))
		l.catalog.Touch(m)
	}
	d.affected = nil
}

// followDay takes in the fills that entered or left the last 24 hours; of
// everything (whole) or in the batch merged last. All tokens are mapped by then.
func (l *Live) followDay(ctx context.Context, conn *sql.Conn, whole bool) error {
	query := statements.Get("BatchDayHolders")
	if whole {
		query = statements.Get("LoadDayHolders", "@lo", dayAgo(l.state.asOf), "@hi", strconv.FormatInt(l.state.asOf, 10))
	}
	err := engine.Each(ctx, conn, query, func(row []driver.Value) error {
		key, n := holderOf(row), int32(engine.Int(row[2]))
		if n != 0 && !l.excluded[key.wallet] {
			l.day.add(l, key, n)
		}
		return nil
	})
	l.day.settle(l)
	return err
}

// followVenue takes in which tokens the venue's own wallets traded: they count
// nowhere as traders.
func (l *Live) followVenue(ctx context.Context, conn *sql.Conn, whole bool) error {
	if len(l.excluded) == 0 {
		return nil
	}
	wallets := make([]string, 0, len(l.excluded))
	for id := range l.excluded {
		wallets = append(wallets, strconv.Itoa(int(id)))
	}
	rows := "SELECT token, wallet FROM d_" + tableNamed("position").name
	if whole {
		rows = statements.Get("LoadHolders")
	}
	query := statements.Get("LoadHeldBy", "@rows", rows, "@wallets", strings.Join(wallets, ","))
	return engine.Each(ctx, conn, query, func(row []driver.Value) error {
		key := holderOf(row)
		if !slices.Contains(l.venueTraded[key.token], key.wallet) {
			l.venueTraded[key.token] = append(l.venueTraded[key.token], key.wallet)
		}
		l.touchToken(row)
		return nil
	})
}
