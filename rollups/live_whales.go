package rollups

import (
	"cmp"
	"context"
	"database/sql"
	"slices"
	"strconv"

	"pmx/data"
	"pmx/rollups/serving"
)

// whaleSection keeps the moves of the last 30 days, oldest first. The slice is
// shared with snapshots: it is appended to, or replaced.
type whaleSection struct {
	moves []serving.Move
	since int64     // 30 days before as_of: moves are those after it
	sums  whaleSums `image:"-"` // of publish, which reuses its memory
}

// whaleMoveRow is a row of whale_move.
type whaleMoveRow struct {
	TS     int64         `sql:"ts"`
	Wallet data.WalletID `sql:"wallet"`
	Token  data.TokenID  `sql:"token"`
	Side   data.Side     `sql:"side"`
	Tx     data.Hash     `sql:"tx,null"`
	Fills  int64         `sql:"fills"`
	Shares data.Micro    `sql:"shares"`
	USD    data.Micro    `sql:"usd"`
}

func (p *whaleSection) follow(ctx context.Context, conn *sql.Conn, l *Live, from func(table) string, whole bool) error {
	if whole {
		p.moves = nil
	}
	s := l.next
	p.since = s.asOf - serving.Month.Length().Microseconds()
	var changes []serving.Move
	query := statements.Get("FollowWhaleMoves", "@moves", from(tableNamed("whale_move")), "@since", strconv.FormatInt(p.since, 10))
	err := eachAdded(l, func(b *batchSums) []whaleMoveRow { return b.movesSince(p.since) }, query, func(row *whaleMoveRow) {
		if l.excluded[row.Wallet] {
			return
		}
		changes = append(changes, serving.Move{TS: row.TS, WalletID: row.Wallet, Wallet: l.walletBuilder.Wallets().Address(row.Wallet),
			Token: row.Token, TokenID: l.tokens[row.Token].id, Side: row.Side, Tx: row.Tx, Fills: row.Fills, Shares: row.Shares, USD: row.USD})
	})(ctx, conn)
	slices.SortFunc(changes, func(a, b serving.Move) int { return a.Compare(&b) })
	p.take(addedUp(changes))
	p.flow(l, s.asOf-serving.Day.Length().Microseconds())
	return err
}

// flow sums up what whales bought minus what they sold of each token after start, and notes the
// markets for which that changed.
func (p *whaleSection) flow(l *Live, start int64) {
	before := l.whaleFlows
	l.whaleFlows = map[data.TokenID]data.Micro{}
	for i := len(p.moves) - 1; i >= 0 && p.moves[i].TS > start; i-- {
		m := &p.moves[i]
		if m.Side == data.Buy {
			l.whaleFlows[m.Token] += m.USD
		} else {
			l.whaleFlows[m.Token] -= m.USD
		}
	}
	touch := func(flows, other map[data.TokenID]data.Micro) {
		for token, usd := range flows {
			if market := l.tokens[token].market; market >= 0 && usd != other[token] {
				l.catalog.Touch(market)
			}
		}
	}
	touch(l.whaleFlows, before)
	touch(before, l.whaleFlows)
}

// take adds sorted changes, of new moves or known ones, and drops moves that are too old.
func (p *whaleSection) take(changes []serving.Move) {
	if n := len(p.moves); len(changes) > 0 && n > 0 && changes[0].Compare(&p.moves[n-1]) <= 0 {
		p.moves = mergedMoves(p.moves, changes)
	} else {
		p.moves = append(p.moves, changes...)
	}
	first, _ := slices.BinarySearchFunc(p.moves, p.since, func(m serving.Move, since int64) int {
		if m.TS > since {
			return 1
		}
		return -1
	})
	p.moves = p.moves[first:]
}

// addedUp adds up sorted changes of the same move, which base and delta may have a part of each,
// and leaves out those with a sum of zero.
func addedUp(changes []serving.Move) []serving.Move {
	out := changes[:0]
	for i := 0; i < len(changes); {
		m := changes[i]
		for i++; i < len(changes) && changes[i].Compare(&m) == 0; i++ {
			m.Fills, m.Shares, m.USD = m.Fills+changes[i].Fills, m.Shares+changes[i].Shares, m.USD+changes[i].USD
		}
		if m.Fills != 0 || m.Shares != 0 || m.USD != 0 {
			out = append(out, m)
		}
	}
	return out
}

// mergedMoves returns moves with changes added, without those that become zero.
func mergedMoves(moves, changes []serving.Move) []serving.Move {
	all := make([]serving.Move, 0, len(moves)+len(changes)+64)
	for len(moves) > 0 || len(changes) > 0 {
		order := 0
		switch {
		case len(changes) == 0:
			order = -1
		case len(moves) == 0:
			order = 1
		default:
			order = moves[0].Compare(&changes[0])
		}
		switch {
		case order < 0:
			all, moves = append(all, moves[0]), moves[1:]
		case order > 0:
			all, changes = append(all, changes[0]), changes[1:]
		default:
			m, c := moves[0], &changes[0]
			m.Fills, m.Shares, m.USD = m.Fills+c.Fills, m.Shares+c.Shares, m.USD+c.USD
			if m.Fills != 0 {
				all = append(all, m)
			}
			moves, changes = moves[1:], changes[1:]
		}
	}
	return all
}

func (p *whaleSection) publish(ctx context.Context, conn *sql.Conn, l *Live, snap *serving.Snapshot) error {
	w := &serving.Whales{Since: p.since, Moves: slices.Clip(p.moves)}
	if l.made != nil {
		w.MinUSD = l.made.whaleLeast
	} else if err := conn.QueryRowContext(ctx, statements.Get("WhaleRule")).Scan(&w.MinUSD); err != nil {
		return err
	}
	for id := range l.excluded {
		w.Excluded = append(w.Excluded, id)
	}
	slices.Sort(w.Excluded)
	p.sums.clear()
	next := len(p.moves) - 1
	for period := range serving.Periods { // each window holds the ones before it
		start := l.progress.asOf - period.Length().Microseconds()
		for ; next >= 0 && p.moves[next].TS > start; next-- {
			p.sums.add(&p.moves[next])
		}
		w.Leaderboards[period] = l.whaleLeaderboard(p.sums.rows, period)
	}
	snap.Whales = w
	return nil
}

// whaleSum is the sums over the moves of one wallet.
type whaleSum struct {
	wallet             data.WalletID
	moves              int64
	buy, sell, largest data.Micro
	lastTS             int64
}

func (s *whaleSum) usd() data.Micro { return s.buy + s.sell }

type whaleSums struct {
	index map[data.WalletID]int
	rows  []whaleSum
}

func (s *whaleSums) clear() {
	if s.index == nil {
		s.index = map[data.WalletID]int{}
	}
	clear(s.index)
	s.rows = s.rows[:0]
}

func (s *whaleSums) add(m *serving.Move) {
	i, known := s.index[m.WalletID]
	if !known {
		i = len(s.rows)
		s.index[m.WalletID] = i
		s.rows = append(s.rows, whaleSum{wallet: m.WalletID})
	}
	w := &s.rows[i]
	w.moves++
	if m.Side == data.Buy {
		w.buy += m.USD
	} else {
		w.sell += m.USD
	}
	w.largest, w.lastTS = max(w.largest, m.USD), max(w.lastTS, m.TS)
}

// whaleLeaderboard ranks wallets by whale volume, ties by volume, then address.
func (l *Live) whaleLeaderboard(sums []whaleSum, p serving.Period) []serving.WhaleRow {
	best := top[whaleSum]{n: serving.LeaderboardSize, less: func(a, b *whaleSum) int {
		if c := cmp.Compare(b.usd(), a.usd()); c != 0 {
			return c
		}
		x, y := l.inWindow(a.wallet, p), l.inWindow(b.wallet, p)
		return cmp.Or(cmp.Compare(y.volume(), x.volume()), l.compareAddress(a.wallet, b.wallet))
	}}
	for i := range sums {
		best.offer(&sums[i])
	}
	out := make([]serving.WhaleRow, 0, len(best.items))
	for i, s := range best.sorted() {
		id := s.wallet
		t, _ := l.walletBuilder.Totals(id)
		w := l.inWindow(s.wallet, p)
		row := serving.WhaleRow{
			Rank: i + 1, Wallet: l.walletBuilder.Wallets().Address(id), Name: l.walletBuilder.Name(id), WhaleUSD: s.usd(), Moves: s.moves,
			BuyUSD: s.buy, SellUSD: s.sell, LargestUSD: s.largest, LastTS: s.lastTS, Volume: w.volume(),
			RealPnL: t.RealPnL(), RealPnLPeriod: w.pnl(),
			Undated: w.undated, UndatedMarkets: w.undatedMarkets,
		}
		if i > 0 && out[i-1].WhaleUSD == row.WhaleUSD {
			row.Rank = out[i-1].Rank
		}
		out = append(out, row)
	}
	return out
}

// inWindow is what a wallet did in a window.
func (l *Live) inWindow(wallet data.WalletID, p serving.Period) walletPeriod {
	if w := l.walletWindows[p].rows.of(int32(wallet)); w != nil {
		return *w
	}
	return walletPeriod{}
}
