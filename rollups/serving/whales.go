package serving

import (
	"bytes"
	"cmp"
	"slices"

	"pmx/data"
)

// Move is a whale move: the taker fills of one wallet, token and side in one
// transaction, of at least Whales.MinUSD together.
type Move struct {
	TS       int64     // unix µs
	Tx       data.Hash // zero if the feed has no transactions: then one moment counts as one
	Wallet   data.Address
	WalletID data.WalletID
	Token    data.TokenID
	TokenID  string
	Side     data.Side
	Fills    int64
	Shares   data.Micro
	USD      data.Micro
}

// Compare orders moves: by time, then transaction, wallet, token and side, none of which ever
// changes in a move.
func (m *Move) Compare(o *Move) int {
	return cmp.Or(cmp.Compare(m.TS, o.TS), bytes.Compare(m.Tx[:], o.Tx[:]), bytes.Compare(m.Wallet[:], o.Wallet[:]),
		cmp.Compare(m.TokenID, o.TokenID), cmp.Compare(m.Side, o.Side))
}

// WhaleRow is one wallet of a whale ranking: by whale volume, then volume, then
// address. Rank is competition rank on whale volume (1, 1, 3).
type WhaleRow struct {
	Rank            int
	Wallet          data.Address
	Name            string
	WhaleUSD        data.Micro // of its moves in the window
	Moves           int64
	BuyUSD, SellUSD data.Micro // of its moves
	LargestUSD      data.Micro
	LastTS          int64      // of its latest move, unix µs
	Volume          data.Micro // of all its fills in the window
	RealPnL         data.Micro // lifetime
	RealPnLPeriod   data.Micro
	Undated         data.Micro // as in TraderRow
	UndatedMarkets  int64
}

// Whales has the large trades and who makes them, without the venue's own wallets.
type Whales struct {
	MinUSD data.Micro // smallest order that is a move
	// Since is 30 days before AsOf, unix µs; Moves holds all moves after it,
	// oldest first.
	Since        int64
	Moves        []Move
	Leaderboards [Periods][]WhaleRow // the first LeaderboardSize rows
	Excluded     []data.WalletID     // ids of the venue's own wallets, ascending
}

// After returns the moves later than ts, oldest first; nil Whales have none.
func (w *Whales) After(ts int64) []Move {
	if w == nil {
		return nil
	}
	i, _ := slices.BinarySearchFunc(w.Moves, ts, func(m Move, ts int64) int {
		if m.TS > ts {
			return 1
		}
		return -1
	})
	return w.Moves[i:]
}

// Before returns the moves that come before m in order, oldest first; all for nil.
func (w *Whales) Before(m *Move) []Move {
	switch {
	case w == nil:
		return nil
	case m == nil:
		return w.Moves
	}
	i, _ := slices.BinarySearchFunc(w.Moves, m, func(a Move, b *Move) int { return a.Compare(b) })
	return w.Moves[:i]
}

// Equal reports whether w and o are the same.
func (w *Whales) Equal(o *Whales) bool {
	if w == nil || o == nil {
		return w == o
	}
	same := w.MinUSD == o.MinUSD && w.Since == o.Since && slices.Equal(w.Moves, o.Moves) && slices.Equal(w.Excluded, o.Excluded)
	for p := range Periods {
		same = same && slices.Equal(w.Leaderboards[p], o.Leaderboards[p])
	}
	return same
}

// MoveFilter says which moves are wanted. The zero filter with Side and Wallet −1 accepts every
// move.
type MoveFilter struct {
	MinUSD     data.Micro
	Side       int8            // data.Side, −1: both
	Wallet     data.WalletID   // id, −1: all
	Tokens     []data.TokenID  // of one market; nil: of all
	Categories []string        // of the market: any of these; nil: all
	Excluded   []data.WalletID // wallet ids to leave out
}

// Matches reports whether m, one of a snapshot that c belongs to, is wanted.
func (f *MoveFilter) Matches(c *Catalog, m *Move) bool {
	switch {
	case m.USD < f.MinUSD, f.Side >= 0 && int8(m.Side) != f.Side, f.Wallet >= 0 && m.WalletID != f.Wallet,
		f.Tokens != nil && !slices.Contains(f.Tokens, m.Token):
		return false
	case f.Categories == nil:
		return true
	}
	market := c.Market(c.Token(m.Token).Market)
	return market != nil && slices.Contains(f.Categories, market.Category)
}
