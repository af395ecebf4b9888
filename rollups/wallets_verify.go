package rollups

import (
	"context"
	"database/sql"
	"encoding/binary"
	"fmt"

	"github.com/cespare/xxhash/v2"

	"pmx/rollups/serving"
	"pmx/rollups/walletrun"
)

// walletCheck is what the fills of a wallet come to: equal for equal fills, in any
// order.
type walletCheck struct {
	fills int64
	sum   uint64
}

func (c *walletCheck) add(f *serving.Fill) {
	var text [104]byte
	b := append(text[:0], f.Tx[:]...)
	for _, n := range [...]int64{f.TS, int64(f.LogIndex), int64(f.Token), int64(f.Side), int64(f.Role), int64(f.Repeat),
		int64(f.Shares), int64(f.USD), int64(f.Fee)} {
		b = binary.LittleEndian.AppendUint64(b, uint64(n))
	}
	c.fills++
	c.sum += xxhash.Sum64(b)
}

// VerifyWallets holds every fill that a store gives against the facts, and every
// sum against the fills. Wallets that the store leaves to the database are passed
// over. Nothing may be imported meanwhile.
func VerifyWallets(ctx context.Context, conn *sql.Conn, store *walletrun.Store) (Check, error) {
	c := Check{Name: "wallet_run", OK: true}
	if st := store.Stats(); !st.Ready {
		c.Detail = "no file in wallet order yet: wallets are read from the facts"
		return c, nil
	}
	batch := store.Through()
	var facts []walletCheck
	err := WalletFacts(ctx, conn, walletrun.Plan{Batch: batch, After: -1}, func(wallet int32, _ int64, f *serving.Fill) error {
		for int(wallet) >= len(facts) {
			facts = append(facts, walletCheck{})
		}
		facts[wallet].add(f)
		return nil
	})
	if err != nil {
		return c, err
	}
	for wallet := range facts {
		if err := ctx.Err(); err != nil {
			return c, err
		}
		got, known := walletHeld(store, int32(wallet), batch)
		if !known {
			continue
		}
		c.Rows += facts[wallet].fills
		if got != facts[wallet] {
			c.Bad++
		}
	}
	if c.OK = c.Bad == 0; !c.OK {
		c.Detail = fmt.Sprintf("the fills of %d wallets in runs/ differ from the facts: delete that folder and restart", c.Bad)
	}
	return c, nil
}

// walletHeld is the check of what the store holds of a wallet; one of no facts
// where its sums contradict its fills.
func walletHeld(store *walletrun.Store, wallet int32, batch int64) (c walletCheck, known bool) {
	const page = 10_000
	var whole serving.TokenSum
	var fills []serving.Fill
	var after *serving.Fill
	for {
		var last serving.Fill
		if fills, known = store.Fills(fills[:0], wallet, batch, after, page); !known {
			return c, false
		}
		for i := range fills {
			c.add(&fills[i])
			whole.Add(&fills[i])
		}
		if len(fills) < page {
			break
		}
		last = fills[page-1]
		after = &last
	}
	tokens, _ := store.Tokens(nil, wallet, batch)
	days, _ := store.Days(nil, wallet, batch)
	var byToken, byDay serving.TokenSum
	for i := range tokens {
		byToken.Merge(&tokens[i])
	}
	for i := range days {
		byDay.Merge(&serving.TokenSum{Fills: days[i].Fills, BuyUSD: days[i].BuyUSD, SellUSD: days[i].SellUSD, FeeUSD: days[i].FeeUSD})
	}
	byToken.Token, whole.Token = 0, 0
	if byToken != whole || byDay.Fills != whole.Fills || byDay.BuyUSD != whole.BuyUSD || byDay.SellUSD != whole.SellUSD || byDay.FeeUSD != whole.FeeUSD {
		return walletCheck{}, true
	}
	return c, true
}
