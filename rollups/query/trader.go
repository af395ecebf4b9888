package query

import (
	"context"
	"database/sql/driver"
	"encoding/hex"
	"math"
	"strconv"

	"pmx/data"
	"pmx/engine"
	"pmx/rollups/serving"
)

// WalletFills adds the n newest fills of a wallet to dst, newest first, of imports
// up to batch; those before after where that is given.
func (r *Reader) WalletFills(ctx context.Context, dst []serving.Fill, wallet data.WalletID, batch int64, after *serving.Fill,
	n int) ([]serving.Fill, error) {
	err := r.each(ctx, "WalletFills", func(row []driver.Value) { dst = append(dst, fillOf(row)) },
		append(of(wallet, batch), place(after, n)...)...)
	return dst, err
}

// WalletTokens adds what a wallet did with each token to dst, in imports up to
// batch, in order of token.
func (r *Reader) WalletTokens(ctx context.Context, dst []serving.TokenSum, wallet data.WalletID, batch int64) ([]serving.TokenSum, error) {
	err := r.each(ctx, "WalletTokens", func(row []driver.Value) {
		dst = append(dst, serving.TokenSum{Token: data.TokenID(engine.Int(row[0])), Fills: engine.Int(row[1]),
			BuyShares: amount(row[2]), SellShares: amount(row[3]), FeeShares: amount(row[4]),
			BuyUSD: amount(row[5]), SellUSD: amount(row[6]), FeeUSD: amount(row[7]),
			FirstTS: engine.Int(row[8]), LastTS: engine.Int(row[9])})
	}, of(wallet, batch)...)
	return dst, err
}

// WalletDays adds what a wallet traded on each UTC day to dst, in imports up to
// batch, oldest first; days without a fill are left out.
func (r *Reader) WalletDays(ctx context.Context, dst []serving.DaySum, wallet data.WalletID, batch int64) ([]serving.DaySum, error) {
	err := r.each(ctx, "WalletDays", func(row []driver.Value) {
		dst = append(dst, serving.DaySum{Day: int32(engine.Int(row[0])), Fills: engine.Int(row[1]),
			BuyUSD: amount(row[2]), SellUSD: amount(row[3]), FeeUSD: amount(row[4])})
	}, of(wallet, batch)...)
	return dst, err
}

// of says which wallet, and as of which batch.
func of(wallet data.WalletID, batch int64) []string {
	return []string{"@wallet", strconv.Itoa(int(wallet)), "@batch", strconv.FormatInt(batch, 10)}
}

// place says behind which fill to read; nil is before the newest.
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
	if at == data.NoIndex { // behind every other
		at = math.MaxInt32
	}
	whole := func(n int64) string { return strconv.FormatInt(n, 10) }
	return []string{"@ts", whole(p.TS), "@tx", tx, "@side", whole(int64(p.Side)), "@shares", whole(int64(p.Shares)),
		"@usd", whole(int64(p.USD)), "@token", whole(int64(p.Token)), "@repeat", whole(int64(p.Repeat)),
		"@place", whole(int64(at)), "@limit", whole(int64(n))}
}

func fillOf(row []driver.Value) serving.Fill {
	f := serving.Fill{Wallet: data.WalletID(engine.Int(row[0])), TS: engine.Int(row[1]), LogIndex: data.NoIndex, Token: data.TokenID(engine.Int(row[4])),
		Side: data.Side(engine.Int(row[5])), Role: data.Role(engine.Int(row[6])), Repeat: int16(engine.Int(row[7])),
		Shares: amount(row[8]), USD: amount(row[9]), Fee: amount(row[10])}
	if tx, known := row[2].([]byte); known {
		copy(f.Tx[:], tx)
	}
	if row[3] != nil {
		f.LogIndex = int32(engine.Int(row[3]))
	}
	return f
}

func amount(v driver.Value) data.Micro { return data.Micro(engine.Int(v)) }

// WalletInMemory is false: what one wallet did is spread over all days of the facts.
func (r *Reader) WalletInMemory(data.WalletID, int64) bool { return false }
