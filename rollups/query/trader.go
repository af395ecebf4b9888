package query

import (
	"context"
	"encoding/hex"
	"math"
	"strconv"

	"pmx/data"
	"pmx/rollups/serving"
)

// WalletFills adds the n newest fills of a wallet to dst, newest first, of imports up to batch;
// those before after if that is given.
func (r *Reader) WalletFills(ctx context.Context, dst []serving.Fill, wallet data.WalletID, batch int64, after *serving.Fill,
	n int) ([]serving.Fill, error) {
	if l := r.lake(); l != nil {
		return r.lakeWalletFills(ctx, l, dst, wallet, batch, after, n)
	}
	newest := int64(math.MaxInt64)
	if after != nil {
		newest = after.TS
	}
	err := each(ctx, r, "WalletFills", func(row *FillRow) { dst = append(dst, row.Fill()) },
		append(append(of(wallet, batch), place(after, n)...), "@fills", factsBetween(0, newest))...)
	return dst, err
}

// factsBetween is a table of all facts between two times in unix µs, and of a few before and after them.
func factsBetween(from, to int64) string {
	return statements.Get("FactsBetween", "@lo", strconv.FormatInt(from, 10), "@hi", strconv.FormatInt(to, 10))
}

// WalletTokens adds what a wallet did with each token to dst, in imports up to
// batch, in order of token.
func (r *Reader) WalletTokens(ctx context.Context, dst []serving.TokenSum, wallet data.WalletID, batch int64) ([]serving.TokenSum, error) {
	type tokenSum struct {
		Token      data.TokenID `sql:"token"`
		Fills      int64        `sql:"fills"`
		BuyShares  data.Micro   `sql:"buy_shares"`
		SellShares data.Micro   `sql:"sell_shares"`
		FeeShares  data.Micro   `sql:"fee_shares"`
		BuyUSD     data.Micro   `sql:"buy_usd"`
		SellUSD    data.Micro   `sql:"sell_usd"`
		FeeUSD     data.Micro   `sql:"fee_usd"`
		FirstTS    int64        `sql:"first_ts"`
		LastTS     int64        `sql:"last_ts"`
	}
	name := "WalletTokens"
	if r.lake() != nil {
		name = "PulledTokens"
	}
	err := each(ctx, r, name, func(row *tokenSum) {
		dst = append(dst, serving.TokenSum{Token: row.Token, Fills: row.Fills, BuyShares: row.BuyShares, SellShares: row.SellShares,
			FeeShares: row.FeeShares, BuyUSD: row.BuyUSD, SellUSD: row.SellUSD, FeeUSD: row.FeeUSD, FirstTS: row.FirstTS, LastTS: row.LastTS})
	}, of(wallet, batch)...)
	return dst, err
}

// WalletDays adds what a wallet traded on each UTC day to dst, in imports up to
// batch, oldest first; days without a fill are left out.
func (r *Reader) WalletDays(ctx context.Context, dst []serving.DaySum, wallet data.WalletID, batch int64) ([]serving.DaySum, error) {
	type daySum struct {
		Day     int32      `sql:"day"`
		Fills   int64      `sql:"fills"`
		BuyUSD  data.Micro `sql:"buy_usd"`
		SellUSD data.Micro `sql:"sell_usd"`
		FeeUSD  data.Micro `sql:"fee_usd"`
	}
	name := "WalletDays"
	if r.lake() != nil {
		name = "PulledDays"
	}
	err := each(ctx, r, name, func(row *daySum) {
		dst = append(dst, serving.DaySum{Day: row.Day, Fills: row.Fills, BuyUSD: row.BuyUSD, SellUSD: row.SellUSD, FeeUSD: row.FeeUSD})
	}, of(wallet, batch)...)
	return dst, err
}

// of says which wallet, and as of which batch.
func of(wallet data.WalletID, batch int64) []string {
	return []string{"@wallet", strconv.Itoa(int(wallet)), "@batch", strconv.FormatInt(batch, 10)}
}

// place says after which fill to read; nil means from the newest on.
func place(after *serving.Fill, n int) []string {
	p := serving.Fill{TS: math.MaxInt64}
	if after != nil {
		p = *after
	}
	tx := ""
	if !p.Tx.IsZero() {
		tx = hex.EncodeToString(p.Tx[:])
	}
	at := p.LogIndex
	if at == data.NoIndex { // after every other
		at = math.MaxInt32
	}
	whole := func(n int64) string { return strconv.FormatInt(n, 10) }
	return []string{"@ts", whole(p.TS), "@tx", tx, "@side", whole(int64(p.Side)), "@shares", whole(int64(p.Shares)),
		"@usd", whole(int64(p.USD)), "@token", whole(int64(p.Token)), "@repeat", whole(int64(p.Repeat)),
		"@place", whole(int64(at)), "@limit", whole(int64(n))}
}

// WalletInMemory is false: the fills of one wallet are spread over all days of the facts.
func (r *Reader) WalletInMemory(data.WalletID, int64) bool { return false }

// walletAddress is a row of statements that find wallets.
type walletAddress struct {
	Address data.Address `sql:"address"`
}

// WalletsBetween returns the first n wallets from one address up to another, in order.
func (r *Reader) WalletsBetween(ctx context.Context, lo, hi data.Address, n int) (list []data.Address, err error) {
	err = each(ctx, r, "WalletsByAddress", func(row *walletAddress) { list = append(list, row.Address) },
		"@lo", hex.EncodeToString(lo[:]), "@hi", hex.EncodeToString(hi[:]), "@limit", strconv.Itoa(n))
	return list, err
}

// WalletsNamed returns the first n wallets whose name begins with a text, in any letter case, in
// order of the name.
func (r *Reader) WalletsNamed(ctx context.Context, prefix string, n int) (list []data.Address, err error) {
	err = each(ctx, r, "WalletsByName", func(row *walletAddress) { list = append(list, row.Address) },
		"@prefix", hex.EncodeToString([]byte(prefix)), "@limit", strconv.Itoa(n))
	return list, err
}
