package apitest

import (
	"context"

	"pmx/data"
	"pmx/rollups/index"
	"pmx/rollups/serving"
)

// Whales returns n synthetic moves of the wallets of Snapshot, one every two hours back from AsOf,
// each 10,000 dollars larger than the next newer one, and a leaderboard of rows rows.
func Whales(n, rows int) *serving.Whales {
	w := &serving.Whales{MinUSD: 10_000 * data.One, Since: AsOf.Add(-serving.Month.Length()).UnixMicro()}
	for i := n - 1; i >= 0; i-- {
		w.Moves = append(w.Moves, Move(i))
	}
	for p := range serving.Periods {
		for i := range rows {
			left := data.Micro(rows - i)
			w.Leaderboards[p] = append(w.Leaderboards[p], serving.WhaleRow{Rank: i + 1, Wallet: Wallet(i), WhaleUSD: left * 20_000 * data.One,
				Moves: int64(left), BuyUSD: left * 5_000 * data.One, SellUSD: left * 15_000 * data.One, LargestUSD: 12_000 * data.One,
				LastTS: AsOf.UnixMicro(), Volume: left * 30_000 * data.One, RealPnL: -left, RealPnLPeriod: left})
		}
	}
	return w
}

// Move returns the i-th of the moves of Whales, counted back from the newest, 0.
func Move(i int) serving.Move {
	m := serving.Move{TS: AsOf.UnixMicro() - int64(i)*7_200_000_000, Wallet: Wallet(i % 5), WalletID: data.WalletID(i % 5), Token: data.TokenID(i % 3),
		TokenID: "77", Side: data.Side(i % 2), Fills: 3, Shares: 50_000 * data.One, USD: data.Micro(i+1) * 10_000 * data.One}
	if i%4 != 0 {
		m.Tx = data.Hash{1, byte(i), byte(i >> 8)}
	}
	return m
}

// Moves reads older whale moves from memory.
type Moves struct {
	Older []serving.Move // newest first
	Reads int
}

// WhaleMoves returns the newest moves before one; of the filter it uses MinUSD and Side.
func (s *Moves) WhaleMoves(_ context.Context, f serving.MoveFilter, end int64, before *serving.Move, n int) ([]serving.Move, error) {
	s.Reads++
	var out []serving.Move
	for _, m := range s.Older {
		if m.TS <= end && (before == nil || m.Compare(before) < 0) && m.USD >= f.MinUSD && (f.Side < 0 || int8(m.Side) == f.Side) {
			out = append(out, m)
		}
	}
	return out[:min(n, len(out))], nil
}

// Index returns a synthetic index with the given number of hourly bars, which move by one point an
// hour, up to the last full five minutes before AsOf.
func Index(hours int) *serving.Index {
	at := index.At(AsOf.UnixMicro())
	x := &serving.Index{Bucket: at, FirstHour: int64(at/index.HourBuckets) - int64(hours) + 1,
		Now: index.Inputs{Windows: 8, Last: index.Flow{Fills: 1, Taker: 5 * data.One, First: 1, Mapped: 3}, Base: index.Flow{Taker: 30 * data.One}}}
	for i := range hours {
		bars := index.NoBars()
		if i%7 != 6 {
			for n := range bars {
				v := data.Micro(i+n+1) * data.One
				bars[n] = index.Bar{Open: v, High: v + 3, Low: v - 2, Close: v + 1}
			}
		}
		if i%serving.IndexChunk == 0 {
			x.Hours = append(x.Hours, nil)
		}
		last := len(x.Hours) - 1
		x.Hours[last] = append(x.Hours[last], bars)
	}
	return x
}
