package serving

import (
	"bytes"
	"cmp"
	"math"

	"pmx/data"
)

// Fill is one fill, by the small ids of the database.
type Fill struct {
	TS       int64     // unix µs
	Tx       data.Hash // zero: the source had none
	LogIndex int32     // data.NoIndex: the source had none
	Wallet   data.WalletID
	Token    data.TokenID
	Side     data.Side
	Role     data.Role
	Repeat   int16 // numbers equal fills of a source without log indexes, from 1
	Shares   data.Micro
	USD      data.Micro
	Fee      data.Micro // as in data.Fill: data.FeeShares and data.FeeUSD
}

// NameOrder orders tokens and wallets by their public ids. Their internal ids depend on the order
// of imports, and another database has others: no order that is shown may depend on them.
type NameOrder interface {
	CompareTokens(a, b data.TokenID) int   // by token id, as text
	CompareWallets(a, b data.WalletID) int // by address
}

// Compare orders the fills of one wallet, oldest first: by time, transaction, side, shares, dollars
// and token id. Among fills that are equal in all of these, those with a log index come first, by
// log index, then the others by repeat number. The repeat number of a fill with a log index is
// ignored. The order is total.
func (f *Fill) Compare(o *Fill, n NameOrder) int {
	if f.TS != o.TS {
		return cmp.Compare(f.TS, o.TS)
	}
	if c := bytes.Compare(f.Tx[:], o.Tx[:]); c != 0 {
		return c
	}
	if c := cmp.Or(cmp.Compare(f.Side, o.Side), cmp.Compare(f.Shares, o.Shares), cmp.Compare(f.USD, o.USD)); c != 0 {
		return c
	}
	if f.Token != o.Token {
		return n.CompareTokens(f.Token, o.Token)
	}
	return cmp.Or(cmp.Compare(f.place(), o.place()), cmp.Compare(f.Repeat, o.Repeat))
}

// place is the log index; without one, it is after all others.
func (f *Fill) place() int32 {
	if f.LogIndex == data.NoIndex {
		return math.MaxInt32
	}
	return f.LogIndex
}

// Like reports whether f and o are equal except for what tells equal fills apart.
func (f *Fill) Like(o *Fill) bool {
	return f.TS == o.TS && f.Tx == o.Tx && f.Side == o.Side && f.Shares == o.Shares && f.USD == o.USD && f.Token == o.Token
}

// CompareInBlock orders the fills of a market, oldest first, as its newest fills are shown: by
// time, by their order in the block, within a transaction sells before buys; then by token id, and
// last by address. The order is total.
func (f *Fill) CompareInBlock(o *Fill, n NameOrder) int {
	if f.TS != o.TS {
		return cmp.Compare(f.TS, o.TS)
	}
	if c := cmp.Or(cmp.Compare(f.LogIndex, o.LogIndex), bytes.Compare(f.Tx[:], o.Tx[:]), cmp.Compare(o.Side, f.Side),
		cmp.Compare(f.Shares, o.Shares), cmp.Compare(f.USD, o.USD)); c != 0 {
		return c
	}
	if f.Token != o.Token {
		return n.CompareTokens(o.Token, f.Token)
	}
	if c := cmp.Compare(o.Repeat, f.Repeat); c != 0 || f.Wallet == o.Wallet {
		return c
	}
	return n.CompareWallets(o.Wallet, f.Wallet)
}

// TokenSum is what a wallet did with one token, lifetime.
type TokenSum struct {
	Token           data.TokenID
	Fills           int64
	BuyShares       data.Micro
	SellShares      data.Micro
	FeeShares       data.Micro // fees in tokens, of buys
	BuyUSD, SellUSD data.Micro
	FeeUSD          data.Micro // fees in dollars
	FirstTS, LastTS int64      // unix µs
}

// Add adds a fill of the token.
func (s *TokenSum) Add(f *Fill) {
	if s.Fills == 0 {
		s.Token, s.FirstTS, s.LastTS = f.Token, f.TS, f.TS
	}
	s.Fills++
	s.FirstTS, s.LastTS = min(s.FirstTS, f.TS), max(s.LastTS, f.TS)
	s.FeeShares += data.FeeShares(f.Side, f.Fee)
	s.FeeUSD += data.FeeUSD(f.Side, f.Fee)
	if f.Side == data.Buy {
		s.BuyShares += f.Shares
		s.BuyUSD += f.USD
		return
	}
	s.SellShares += f.Shares
	s.SellUSD += f.USD
}

// Net is the signed balance in tokens.
func (s *TokenSum) Net() data.Micro { return s.BuyShares - s.SellShares - s.FeeShares }

// DaySum is what a wallet traded on one UTC day.
type DaySum struct {
	Day             int32 // since 1970-01-01
	Fills           int64
	BuyUSD, SellUSD data.Micro
	FeeUSD          data.Micro
}

// DayOf is the UTC day of a time in unix µs, which is not before 1970.
func DayOf(ts int64) int32 { return int32(ts / 86_400_000_000) }

// Add adds a fill of the day.
func (s *DaySum) Add(f *Fill) {
	s.Day = DayOf(f.TS)
	s.Fills++
	s.FeeUSD += data.FeeUSD(f.Side, f.Fee)
	if f.Side == data.Buy {
		s.BuyUSD += f.USD
		return
	}
	s.SellUSD += f.USD
}

// Merge adds another sum of the same day.
func (s *DaySum) Merge(o *DaySum) {
	s.Day = o.Day
	s.Fills += o.Fills
	s.BuyUSD += o.BuyUSD
	s.SellUSD += o.SellUSD
	s.FeeUSD += o.FeeUSD
}

// NetCash is sells minus buys minus fees.
func (s *DaySum) NetCash() data.Micro { return s.SellUSD - s.BuyUSD - s.FeeUSD }
