package rollups

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"slices"
	"strconv"
	"strings"

	"pmx/engine"
)

// dayTraders counts the distinct wallets of each market in the last 24 hours. It
// follows the fills that enter and leave that window, so it needs no table.
type dayTraders struct {
	fillsByHolder map[uint64]int32 // by token and wallet
	count         []int32          // by market
	affected      []int32          // markets whose tokens changed since the last settle
}

func newDayTraders() dayTraders { return dayTraders{fillsByHolder: map[uint64]int32{}} }

func holderKey(token, wallet int32) uint64 { return uint64(token)<<32 | uint64(uint32(wallet)) }

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
func (d *dayTraders) add(l *Live, token, wallet, n int32) {
	key := holderKey(token, wallet)
	before := d.fillsByHolder[key]
	if before+n == 0 {
		delete(d.fillsByHolder, key)
	} else {
		d.fillsByHolder[key] = before + n
	}
	market := l.tokens[token].market
	if market < 0 || (before == 0) == (before+n == 0) {
		return
	}
	for _, other := range l.catalog.Tokens(market) {
		if other != token && d.fillsByHolder[holderKey(other, wallet)] != 0 {
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
	wallets := map[int32]map[int32]bool{}
	for _, m := range d.affected {
		wallets[m] = map[int32]bool{}
	}
	for key := range d.fillsByHolder {
		if set := wallets[l.tokens[key>>32].market]; set != nil {
			set[int32(uint32(key))] = true
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
		token, wallet, n := int32(engine.Int(row[0])), int32(engine.Int(row[1])), int32(engine.Int(row[2]))
		if n != 0 && !l.excluded[wallet] {
			l.day.add(l, token, wallet, n)
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
		token, wallet := int32(engine.Int(row[0])), int32(engine.Int(row[1]))
		if !slices.Contains(l.venueTraded[token], wallet) {
			l.venueTraded[token] = append(l.venueTraded[token], wallet)
		}
		l.touchToken(row)
		return nil
	})
}
