package rollups

import (
	"context"
	"database/sql"
	"encoding/binary"
	"fmt"

	"github.com/cespare/xxhash/v2"

	"pmx/data"
	"pmx/rollups/segments/fillseg"
	"pmx/rollups/serving"
)

// fillDigest is a digest of the fills of a wallet: equal for equal fills, in any order.
type fillDigest struct {
	fills int64
	sum   uint64
}

func (c *fillDigest) add(f *serving.Fill) {
	var text [112]byte
	b := append(text[:0], f.Tx[:]...)
	for _, n := range [...]int64{f.TS, int64(f.LogIndex), int64(f.Wallet), int64(f.Token), int64(f.Side), int64(f.Role), int64(f.Repeat),
		int64(f.Shares), int64(f.USD), int64(f.Fee)} {
		b = binary.LittleEndian.AppendUint64(b, uint64(n))
	}
	c.fills++
	c.sum += xxhash.Sum64(b)
}

// VerifyFillSegments compares every fill of the stores by wallet and by token with the facts, and
// every sum with the fills. What a store leaves to the database is skipped. Nothing may be imported
// meanwhile.
func VerifyFillSegments(ctx context.Context, conn *sql.Conn, byWallet fillseg.WalletStore, byToken fillseg.TokenStore) ([]Check, error) {
	for _, s := range []*fillseg.Store{byWallet.Store, byToken.Store} {
		if err := s.VerifyPages(ctx.Err); err != nil {
			return nil, err
		}
	}
	wallets, tokens := newWalletVerifier(byWallet), newTokenVerifier(byToken)
	last := max(wallets.batch, tokens.batch)
	err := eachFactBySpan(ctx, conn, FactQuery{Batch: last, After: -1}, func(batch int64, f *serving.Fill) error {
		wallets.add(batch, f)
		tokens.add(batch, f)
		return nil
	}, tokens.endSpan)
	if err != nil {
		return nil, err
	}
	if err := wallets.finish(ctx); err != nil {
		return nil, err
	}
	tokens.finish()
	return []Check{wallets.check, tokens.check}, nil
}

// setDamaged makes the check fail for a file known to be damaged; false if none is.
func (c *Check) setDamaged(err error) bool {
	if err == nil {
		return false
	}
	c.OK, c.Bad = false, 1
	c.Detail = "segments/" + err.Error() + ". A server sets it aside and writes it again; so does pmx rebuild"
	return true
}

// walletVerifier gathers the digests of each wallet's facts.
type walletVerifier struct {
	check Check
	store fillseg.WalletStore
	batch int64 // −1: there is nothing to prove
	facts []fillDigest
}

func newWalletVerifier(store fillseg.WalletStore) *walletVerifier {
	p := &walletVerifier{store: store, check: Check{Name: "wallet_segment", OK: true}, batch: store.Through()}
	if st := store.Stats(); p.check.setDamaged(st.Damage) {
		p.batch = -1
	} else if !st.Ready {
		p.check.Detail, p.batch = "no file in wallet order yet: wallets are read from the facts", -1
	}
	return p
}

func (p *walletVerifier) add(batch int64, f *serving.Fill) {
	if batch > p.batch {
		return
	}
	for int(f.Wallet) >= len(p.facts) {
		p.facts = append(p.facts, fillDigest{})
	}
	p.facts[f.Wallet].add(f)
}

func (p *walletVerifier) finish(ctx context.Context) error {
	c := &p.check
	for wallet := range p.facts {
		if err := ctx.Err(); err != nil {
			return err
		}
		got, known := storedDigest(p.store, data.WalletID(wallet), p.batch)
		if !known {
			continue
		}
		c.Rows += p.facts[wallet].fills
		if got != p.facts[wallet] {
			c.Bad++
		}
	}
	if c.OK = c.Bad == 0; !c.OK && c.Detail == "" {
		c.Detail = fmt.Sprintf("the fills of %d wallets in segments/wallets*.seg differ from the facts: pmx rebuild writes these files again", c.Bad)
	}
	return nil
}

// storedDigest is the digest of what the store holds of a wallet; one that no facts have if its
// sums contradict its fills.
func storedDigest(store fillseg.WalletStore, wallet data.WalletID, batch int64) (c fillDigest, known bool) {
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
		return fillDigest{}, true
	}
	return c, true
}
