package rollups

import (
	"context"
	"errors"
	"math"
	"testing"

	"pmx/data"
)

// Stretches are summed up in the order of their facts, only into rows that are free, and no more once the context has ended or a sum does not fit.
func TestStretchesAreSummedUpIntoFreeRows(t *testing.T) {
	fills := make([]stretchFill, 12)
	for i := range fills {
		fills[i] = stretchFill{TS: int64(i) * hourLength, Token: data.TokenID(300 * (i / 4)), Wallet: data.WalletID(i % 2), Shares: 10_000, USD: 5_000, Side: data.Buy}
	}
	fills[8].Shares, fills[10].Shares = math.MaxInt64, 1
	g := &stretchGroup{list: []stretch{{0, 4}, {1, 4}, {2, 4}}}
	var frees []func()
	defer func() {
		for _, free := range frees {
			free()
		}
	}()
	s := &stretchSorter{fills: fills}
	run := func(ctx context.Context, free int) (summed []*stretchRows, err error) {
		t.Helper()
		from, to := make(chan *stretchRows, 3), make(chan *stretchRows, 3)
		for range free {
			rows, err := allocateRows(4, &frees)
			if err != nil {
				t.Fatal(err)
			}
			from <- &rows
		}
		err = s.sumEach(ctx, g, from, to)
		close(to)
		for rows := range to {
			summed = append(summed, rows)
		}
		return summed, err
	}
	ended, end := context.WithCancel(t.Context())
	end()
	if summed, err := run(ended, 0); !errors.Is(err, context.Canceled) || len(summed) != 0 {
		t.Errorf("after the end, without free rows: %d stretches, %v", len(summed), err)
	}
	if summed, err := run(ended, 3); !errors.Is(err, context.Canceled) || len(summed) != 0 {
		t.Errorf("after the end, with free rows: %d stretches, %v", len(summed), err)
	}
	summed, err := run(t.Context(), 3)
	if !errors.Is(err, errOverflow) || len(summed) != 2 {
		t.Fatalf("%d stretches, %v", len(summed), err)
	}
	for i, rows := range summed {
		if rows.nPos != 2 || rows.nCandles != 4 || rows.positions[0].Token != data.TokenID(300*i) || rows.positions[1].BuyUSD != 10_000 || rows.candleClass[0] != 0 {
			t.Errorf("stretch %d: %d positions, %d candles, %+v", i, rows.nPos, rows.nCandles, rows.positions[:2])
		}
	}
}
