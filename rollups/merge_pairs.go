package rollups

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"fmt"
	"slices"

	"pmx/data"
	"pmx/engine"
)

// tradedPairs knows which wallet ever traded which market: the one thing that a merge needs from
// all history, to count distinct markets and distinct traders. In memory the answer costs
// microseconds; a scan of the positions grows with them. It is derived from the database and may be
// dropped and loaded at any time.
type tradedPairs struct {
	markets [][]int32 // by wallet, ascending
	loaded  bool
	pending []tradedPair // of a merge that is not committed yet
	events  eventGroups
}

// tradedPair is a wallet, and a market that it traded.
type tradedPair struct {
	wallet data.WalletID
	market int32
}

// pairRow is a tradedPair as it is read.
type pairRow struct {
	Wallet data.WalletID `sql:"wallet"`
	Market int32         `sql:"market"`
}

// has reports whether wallet traded market.
func (p *tradedPairs) has(wallet data.WalletID, market int32) bool {
	if int(wallet) >= len(p.markets) {
		return false
	}
	_, found := slices.BinarySearch(p.markets[wallet], market)
	return found
}

func (p *tradedPairs) add(wallet data.WalletID, market int32) {
	for int(wallet) >= len(p.markets) {
		p.markets = append(p.markets, nil)
	}
	i, found := slices.BinarySearch(p.markets[wallet], market)
	if !found {
		p.markets[wallet] = slices.Insert(p.markets[wallet], i, market)
	}
}

// tokenMarketRow is a row of TokenMarkets, by token.
type tokenMarketRow struct {
	Token  data.TokenID `sql:"token"`
	Market int32        `sql:"market"` // −1: not mapped
}

// load reads all positions.
func (p *tradedPairs) load(ctx context.Context, conn *sql.Conn) error {
	p.markets, p.loaded, p.pending = nil, false, nil
	var market []int32
	err := engine.EachRow(ctx, conn, statements.Get("TokenMarkets"), func(row *tokenMarketRow) error {
		market = append(market, row.Market)
		return nil
	})
	if err != nil {
		return err
	}
	err = engine.EachRow(ctx, conn, statements.Get("LoadHolders"), func(row *holder) error {
		w, m := int(row.Wallet), market[row.Token]
		if w >= len(p.markets) {
			p.markets = append(p.markets, make([][]int32, w+1-len(p.markets))...)
		}
		if m >= 0 {
			p.markets[w] = append(p.markets[w], m)
		}
		return nil
	})
	if err != nil {
		return err
	}
	if err := p.events.load(ctx, conn); err != nil {
		return err
	}
	for w, list := range p.markets {
		slices.Sort(list)
		p.markets[w] = slices.Clip(slices.Compact(list))
	}
	p.loaded = true
	return nil
}

// commit applies what the last merge found.
func (p *tradedPairs) commit() {
	for _, pair := range p.pending {
		p.add(pair.wallet, pair.market)
	}
	p.pending = nil
	p.events.commit()
}

// rollback drops what an uncommitted merge found.
func (p *tradedPairs) rollback() { p.pending, p.events.pending = nil, nil }

// newPairs leaves in d_pair the wallets that trade an open market for the first time, and reports
// how many; any is whether the batch has fills.
func (p *tradedPairs) newPairs(ctx context.Context, conn *sql.Conn, any bool) (int64, error) {
	if _, err := conn.ExecContext(ctx, statements.Get("PairsEmpty")); err != nil || !any {
		return 0, err
	}
	var fresh []tradedPair
	err := engine.EachRow(ctx, conn, statements.Get("BatchPairs"), func(row *pairRow) error {
		pair := tradedPair{row.Wallet, row.Market}
		if !p.has(pair.wallet, pair.market) {
			fresh = append(fresh, pair)
		}
		return nil
	})
	if err != nil {
		return 0, fmt.Errorf("BatchPairs: %w", err)
	}
	p.pending = append(p.pending, fresh...)
	return int64(len(fresh)), engine.AppendTemp(conn, "d_pair", len(fresh), func(i int) []driver.Value {
		return []driver.Value{int32(fresh[i].wallet), fresh[i].market}
	})
}

// revalued adds the pairs of markets that were revalued.
func (p *tradedPairs) revalued(ctx context.Context, conn *sql.Conn) error {
	return engine.EachRow(ctx, conn, statements.Get("RevaluedPairs"), func(row *pairRow) error {
		p.pending = append(p.pending, tradedPair{row.Wallet, row.Market})
		return nil
	})
}
