package fillseg

import (
	"encoding/binary"
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

// In the byte before the amounts of a sum, the lower bits say which amounts are not 0, and the upper ones how many fills it
// has, if these are few: else they are 0, and the number follows.
const (
	boughtShares = 1 << iota
	soldShares
	paid
	received
	fees
	fillsAt  = iota
	fewFills = 1<<(8-fillsAt) - 1
)

// appendFills appends a byte with flags and the number of fills, and that number if the byte has no room for it.
func appendFills(b []byte, flags byte, fills int64) []byte {
	if fills <= fewFills {
		return append(b, flags|byte(fills)<<fillsAt)
	}
	return binary.AppendUvarint(append(b, flags), uint64(fills))
}

// fills reads what appendFills wrote.
func (r *sumReader) fills() (flags byte, fills int64) {
	flags = r.flags()
	if few := flags >> fillsAt; few > 0 {
		return flags, int64(few)
	}
	return flags, int64(r.unsigned())
}

// appendWallets writes sums in order of wallet, each as the difference of its wallet to the one before, and its
// amounts: most take few bytes this way. Dollars follow the shares they were paid for.
func appendWallets(b []byte, sums []serving.WalletSum) []byte {
	last := data.WalletID(0)
	for i := range sums {
		s := &sums[i]
		sold, flags := s.BuyShares-s.Net, byte(0)
		for bit, m := range [...]data.Micro{s.BuyShares, sold, s.BuyUSD, s.SellUSD, s.FeeUSD} {
			if m != 0 {
				flags |= 1 << bit
			}
		}
		b = appendFills(binary.AppendUvarint(b, uint64(s.Wallet-last)), flags, s.Fills)
		if flags&boughtShares != 0 {
			b = appendAmount(b, s.BuyShares)
		}
		if flags&soldShares != 0 {
			b = appendAmount(b, sold)
		}
		if flags&paid != 0 {
			b = appendDollars(b, s.BuyUSD, s.BuyShares)
		}
		if flags&received != 0 {
			b = appendDollars(b, s.SellUSD, sold)
		}
		if flags&fees != 0 {
			b = appendAmount(b, s.FeeUSD)
		}
		last = s.Wallet
	}
	return b
}

// readWallets adds what appendWallets wrote to dst.
func (r segment) readWallets(dst []serving.WalletSum, b []byte) []serving.WalletSum {
	in := sumReader{segment: r, b: b}
	dst = slices.Grow(dst, len(b)/walletBytes)
	for len(in.b) > 0 {
		dst = append(dst, serving.WalletSum{Wallet: data.WalletID(in.nextKey(maxID))})
		s := &dst[len(dst)-1]
		flags, sold := byte(0), data.Micro(0)
		flags, s.Fills = in.fills()
		if flags&boughtShares != 0 {
			s.BuyShares = in.compact()
		}
		if flags&soldShares != 0 {
			sold = in.compact()
		}
		if flags&paid != 0 {
			s.BuyUSD = in.dollars(s.BuyShares)
		}
		if flags&received != 0 {
			s.SellUSD = in.dollars(sold)
		}
		if flags&fees != 0 {
			s.FeeUSD = in.compact()
		}
		s.Net = s.BuyShares - sold
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
