package serving

import (
	"math/big"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"pmx/data"
)

// Two forecasts of 0.4 and 0.9 for outcomes that pay 1 and 0.5, which traded for 0.5 and 0.5: errors 0.36 and 0.16, mean 0.26;
// of the market 0.25 and 0, mean 0.125; skill 1 − 0.26 ÷ 0.125 = −1.08; edge (0.6 − 0.4) ÷ 2 = 0.1; half is not right.
func TestScoreByHand(t *testing.T) {
	var s Score
	s.Forecast(400_000, data.One, 500_000, 3*data.One)
	s.Forecast(900_000, 500_000, 500_000, data.One)
	for _, c := range []struct {
		name string
		get  func() (data.Micro, bool)
		want data.Micro
	}{
		{"brier", s.Brier, 260_000}, {"baseline", s.Baseline, 125_000}, {"skill", s.Skill, -1_080_000},
		{"edge", s.MeanEdge, 100_000}, {"accuracy", s.AccuracyPct, 50 * data.One},
	} {
		if got, ok := c.get(); !ok || got != c.want {
			t.Errorf("%s is %s, %t; want %s", c.name, got, ok, c.want)
		}
	}
	// Wilson's interval of 1 in 2: with z² = 3.841459, centre (0.5 + 0.960365) ÷ 2.920729 = 0.5, half-width
	// 1.959964 × √(0.125 + 0.240091) ÷ 2.920729 = 0.405469.
	if low, high, ok := s.Wilson(); !ok || low != 9_453_121 || high != 90_546_879 {
		t.Errorf("interval %s to %s", low, high)
	}
	if s.BuyUSD != 4*data.One {
		t.Errorf("bought for %s", s.BuyUSD)
	}
	var none Score
	for _, get := range []func() (data.Micro, bool){none.Brier, none.Baseline, none.Skill, none.MeanEdge, none.AccuracyPct} {
		if _, ok := get(); ok {
			t.Error("no forecasts have a score")
		}
	}
	if _, _, ok := none.Wilson(); ok {
		t.Error("no forecasts have an interval")
	}
}

// The numbers of the test of the same name in rollups/oracle.
func TestMurphyByHand(t *testing.T) {
	var c Calibration
	for _, f := range [][2]data.Micro{{200_000, 0}, {250_000, data.One}, {800_000, data.One}, {800_000, data.One}} {
		c.Forecast(f[0], f[1], 0, 0)
	}
	// 0.0578125 and −0.0121875 are rounded half away from zero; the remainder is such that the
	// parts add up.
	want := Murphy{Reliability: 57_813, Resolution: 62_500, Uncertainty: 187_500, WithinBins: -12_188}
	if got, ok := c.Murphy(); !ok || got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
	if b := c.Bins[8]; b.Forecasts != 2 || b.Probability != 1_600_000 || b.Payout != 2*data.One {
		t.Errorf("bin 8: %+v", b)
	}
}

// Scores whose mean errors are equal as floats are still ordered.
func TestBrierScoresAreComparedExactly(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		score := func(name string) Score {
			n := rapid.Int32Range(1, 9_000_000).Draw(t, name)
			return Score{Forecasts: n, Error: rapid.Int64Range(0, int64(n)*1_000_000_000_000).Draw(t, name+" error")}
		}
		a, b := score("a"), score("b")
		want := big.NewRat(a.Error, int64(a.Forecasts)).Cmp(big.NewRat(b.Error, int64(b.Forecasts)))
		if got := compareBrier(&a, &b); got != want {
			t.Errorf("%+v against %+v: got %d, want %d", a, b, got, want)
		}
	})
}

// However scores change, the ranking is that of all scores sorted at once, and snapshots taken
// before do not change.
func TestRankingFollowsChanges(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		const wallets = 40
		index := NewWallets(wallets)
		for i := range wallets {
			index.Add(data.Address{byte(i * 37)})
		}
		b := NewOracleBuilder(index)
		all := make([]Score, wallets)
		var before *Oracle
		var ranked []data.WalletID
		for range rapid.IntRange(1, 6).Draw(t, "batches") {
			for range rapid.IntRange(0, 12).Draw(t, "changes") {
				id := data.WalletID(rapid.IntRange(0, wallets-1).Draw(t, "wallet"))
				change := Score{Forecasts: rapid.Int32Range(-all[id].Forecasts, 60).Draw(t, "forecasts")}
				change.Error = int64(all[id].Forecasts+change.Forecasts)*rapid.Int64Range(0, 3).Draw(t, "error") - all[id].Error
				all[id].plus(&change)
				b.Add(id, change, id == 7)
			}
			o := b.Seal()
			want := sortedWallets(o, all)
			if !slices.Equal(want, o.ranked) {
				t.Fatalf("ranked %v, want %v", o.ranked, want)
			}
			for i, id := range want {
				first := slices.IndexFunc(want, func(other data.WalletID) bool { return compareBrier(&all[other], &all[id]) == 0 })
				if rank, ok := o.Rank(id); !ok || rank != first+1 {
					t.Fatalf("wallet %d at %d: rank %d, want %d", id, i, rank, first+1)
				}
			}
			if before != nil && !slices.Equal(before.ranked, ranked) {
				t.Fatal("an earlier ranking changed")
			}
			before, ranked = o, slices.Clone(o.ranked)
		}
	})
}

func sortedWallets(o *Oracle, all []Score) []data.WalletID {
	ids := []data.WalletID{}
	for id := range all {
		if all[id].Forecasts >= RankedFrom && id != 7 {
			ids = append(ids, data.WalletID(id))
		}
	}
	slices.SortFunc(ids, o.compare)
	return ids
}

func TestRanksAreSharedByEqualScores(t *testing.T) {
	index := NewWallets(4)
	b := NewOracleBuilder(index)
	for i, s := range []Score{{Forecasts: 20, Error: 40}, {Forecasts: 30, Error: 60}, {Forecasts: 20, Error: 20}, {Forecasts: 25, Error: 75}, {Forecasts: 19}} {
		index.Add(data.Address{byte(i)})
		b.Add(data.WalletID(i), s, false)
	}
	o := b.Seal()
	// Errors 2, 2, 1, 3 and, with too few forecasts, 0: wallet 1 has more forecasts than wallet 0.
	r := o.Ranking(20, 10)
	if !slices.Equal(r.Wallets, []data.WalletID{2, 1, 0, 3}) || !slices.Equal(r.Ranks, []int32{1, 2, 2, 4}) || r.Total != 4 {
		t.Errorf("%+v", r)
	}
	if r := o.Ranking(25, 1); !slices.Equal(r.Wallets, []data.WalletID{1}) || r.Total != 2 {
		t.Errorf("at least 25: %+v", r)
	}
	if r := o.Ranking(19, 2); !slices.Equal(r.Wallets, []data.WalletID{4, 2}) || r.Total != 5 {
		t.Errorf("at least 19: %+v", r)
	}
	if _, ok := o.Rank(4); ok || o.Score(4).Forecasts != 19 || o.Score(99) != (Score{}) {
		t.Error("a wallet with too few forecasts has a rank, or none a score")
	}
}
