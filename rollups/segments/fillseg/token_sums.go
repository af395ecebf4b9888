package fillseg

import (
	"runtime/debug"
	"slices"

	"pmx/data"
	"pmx/rollups/segments"
	"pmx/rollups/serving"
)

// tokenSums are the sums of all fills of a token, by wallet and by hour. A file of the newest fills
// keeps them for tokens of which it lacks fills.
type tokenSums struct {
	wallets []serving.WalletSum
	hours   []serving.PartialCandle
	room    block
}

func (b *tokenSums) reset() { b.wallets, b.hours = b.wallets[:0], b.hours[:0] }

// add adds a fill.
func (b *tokenSums) add(f *serving.Fill) {
	b.wallets = append(b.wallets, serving.WalletSum{Wallet: f.Wallet, EventSum: serving.EventSumOf(f)})
	b.hours = addHour(b.hours, f)
}

// addHour adds a fill to the hours of its token, the last of which is often its own.
func addHour(hours []serving.PartialCandle, f *serving.Fill) []serving.PartialCandle {
	p, ok := serving.PartialCandleOf(f)
	if !ok {
		return hours
	}
	if n := len(hours) - 1; n >= 0 && hours[n].Hour == p.Hour {
		hours[n].Merge(&p)
		return hours
	}
	return append(hours, p)
}

// settle merges the sums to one for each wallet and one for each hour, in order.
func (b *tokenSums) settle() {
	b.wallets, b.hours = serving.SettleWallets(b.wallets), serving.SettleHours(b.hours)
}

// settledAt is how many sums of wallets are gathered at most before they are merged: a token may have a million
// fills that are in no file yet.
const settledAt = 8192

// walletSteps is of how many wallets lie between two sums.
var walletSteps = newCode(class{0, 3, 3, 1}, class{0, 3, 6, 1}, class{0, 3, 8, 1}, class{0, 3, 10, 1}, class{0, 2, 12, 1}, class{0, 3, 13, 1}, class{0, 4, 14, 1},
	class{0, 5, 16, 1}, class{0, 6, 20, 1}, class{0, 6, anyNumber, 1})

// appendWallets writes sums in order of wallet.
func appendWallets(b []byte, sums []serving.WalletSum) []byte {
	w := writeSums(b, len(sums))
	for i := range sums {
		s := &sums[i]
		w.key(walletSteps, int64(s.Wallet))
		w.trades(s.Fills, trades{s.BuyShares, s.BuyUSD}, trades{s.BuyShares - s.Net, s.SellUSD}, s.FeeUSD != 0)
		if s.FeeUSD != 0 {
			w.amount(s.FeeUSD)
		}
	}
	return w.end()
}

// readWallets adds what appendWallets wrote to dst.
func (r segment) readWallets(dst []serving.WalletSum, b []byte) []serving.WalletSum {
	in := r.readSums(b)
	known := len(dst)
	dst = slices.Grow(dst, in.left)[:known+in.left]
	for i := range dst[known:] {
		s := &dst[known+i]
		s.Wallet = data.WalletID(in.key(walletSteps, maxID))
		fills, bought, sold, fees := in.trades()
		s.EventSum = serving.EventSum{Fills: fills, Net: bought.shares - sold.shares, BuyShares: bought.shares, BuyUSD: bought.usd, SellUSD: sold.usd}
		if fees {
			s.FeeUSD = in.amount()
		}
		in.end()
	}
	return dst
}

// sumBytes returns the encoded sums of a key: of a token by wallet and by hour, false if the file has all
// its fills; of a heavy wallet by token and by day, false for any other.
func (r segment) sumBytes(key int32) (wallets, hours []byte, ok bool) {
	at, next, ok := r.sums(key)
	if !ok {
		return nil, nil, false
	}
	return r.Bytes(tokens, int(at.tokens), int(next.tokens)), r.Bytes(days, int(at.days), int(next.days)), true
}

// addSums adds the sums of a token to b, computed from its fills if the file has all of them.
func (r segment) addSums(k *kind, token int32, b *tokenSums) {
	if wallets, hours, ok := r.sumBytes(token); ok {
		b.wallets, b.hours = r.readWallets(b.wallets, wallets), r.readHours(b.hours, data.TokenID(token), hours)
		return
	}
	lo, hi := r.span(token)
	of := r.keyRows(lo, hi, &b.room)
	of.each(k, token, b.add)
}

// eachRecent calls add with every fill that came since the files were written.
func (v *lookup) eachRecent(add func(f *serving.Fill)) {
	var f serving.Fill
	for i := range v.recent {
		if v.sees(v.recent[i].batch) {
			add(&v.recent[i].Fill)
		}
	}
	for i := range v.older {
		if v.sees(v.older[i].batch) {
			v.older[i].unpackTo(&f)
			v.kind.setIDs(&f, v.key, v.older[i].other)
			add(&f)
		}
	}
}

// Wallets adds what wallets did with a token in imports up to batch to dst, in order of wallet, one sum for each. False
// where the token is not in the store.
func (s TokenStore) Wallets(dst []serving.WalletSum, token data.TokenID, batch int64) (out []serving.WalletSum, ok bool) {
	defer segments.RecoverDamage(debug.SetPanicOnFault(true), &ok, s.Abandon)
	st, v := s.lookup(int32(token), batch)
	if st == nil {
		return dst, false
	}
	defer s.endRead(st, &v)
	v.find()
	known, most := len(dst), settledAt
	add := func(f *serving.Fill) {
		dst = append(dst, serving.WalletSum{Wallet: f.Wallet, EventSum: serving.EventSumOf(f)})
		if len(dst)-known > most {
			dst = dst[:known+len(serving.SettleWallets(dst[known:]))]
			most = max(settledAt, 2*(len(dst)-known))
		}
	}
	v.eachRecent(add)
	for i := range v.spans[:v.n] {
		p := &v.spans[i]
		if kept, _, ok := p.sumBytes(v.key); ok {
			dst = p.readWallets(dst, kept)
			continue
		}
		of := v.rows(i)
		of.each(v.kind, v.key, add)
	}
	return dst[:known+len(serving.SettleWallets(dst[known:]))], true
}

// Hours adds what takers traded of a token in imports up to batch to dst, in order of hour, one partial candle for each.
// False where the token is not in the store.
func (s TokenStore) Hours(dst []serving.PartialCandle, token data.TokenID, batch int64) (out []serving.PartialCandle, ok bool) {
	defer segments.RecoverDamage(debug.SetPanicOnFault(true), &ok, s.Abandon)
	st, v := s.lookup(int32(token), batch)
	if st == nil {
		return dst, false
	}
	defer s.endRead(st, &v)
	v.find()
	known := len(dst)
	var others []serving.PartialCandle
	add := func(f *serving.Fill) { others = addHour(others, f) }
	for i := range v.spans[:v.n] {
		p := &v.spans[i]
		if _, kept, ok := p.sumBytes(v.key); ok {
			dst = p.readHours(dst, token, kept)
			continue
		}
		of := v.rows(i)
		of.each(v.kind, v.key, add)
	}
	v.eachRecent(add)
	dst = append(dst, others...)
	return dst[:known+len(serving.SettleHours(dst[known:]))], true
}
