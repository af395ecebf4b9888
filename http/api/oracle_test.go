package api_test

import (
	"fmt"
	"strings"
	"testing"

	"pmx/data"
	"pmx/http/access"
	"pmx/http/api/apitest"
	"pmx/http/wire"
	"pmx/rollups/serving"
)

// oracleVenue has 300 wallets. Wallet i made i forecasts, each wrong by (i mod 7) ÷ 10
// squared, of outcomes that traded at one half; wallet 100 is the venue's own.
// Wallet 4 made its four in the markets of Murphy's example.
func oracleVenue(t *testing.T) *venue {
	t.Helper()
	snap := apitest.Snapshot(1, 300, 1)
	b := serving.NewWalletBuilder(300)
	for i := range 300 {
		b.Wallets().Add(apitest.Wallet(i))
		b.Set(data.WalletID(i), serving.Totals{FirstTS: 1, BuyUSD: 70 * data.One, SellUSD: 30 * data.One, NetCash: -40 * data.One, Redemption: 50 * data.One})
	}
	b.SetName(20, "twenty")
	b.Seal(snap)
	var markets []*serving.Market
	var tokens []serving.TokenRef
	o := serving.NewOracleBuilder(b.Wallets())
	for i, payout := range []data.Micro{0, data.One, data.One, data.One} {
		markets = append(markets, &serving.Market{ID: int32(i), Condition: data.Hash{byte(i + 1)}, Outcomes: []string{"Yes", "No"},
			Payouts: []data.Micro{payout, data.One - payout}, Category: []string{"weather", "weather", "", "crypto"}[i]})
		tokens = append(tokens, serving.TokenRef{Market: int32(i), Outcome: 0, ID: fmt.Sprint(i)})
		o.SetBaseline(data.TokenID(i), data.One/2)
	}
	snap.Catalog = serving.NewCatalog(markets, tokens)
	for i := range 300 {
		var s serving.Score
		for n := range i {
			wrong := data.Micro(i%7) * 100_000
			s.Forecast([]data.Micro{wrong, data.One - wrong}[n%2], data.Micro(n%2)*data.One, data.One/2, 10*data.One)
		}
		if i == 4 {
			s = serving.Score{Forecasts: 4} // the rest is computed from its tokens
		}
		o.Add(data.WalletID(i), s, i == 100)
	}
	snap.Oracle = o.Seal()
	v := newVenue(t, snap)
	v.wallets.Fills = map[data.WalletID][]serving.Fill{4: {
		{Token: 0, Side: data.Buy, Shares: 10 * data.One, USD: 2 * data.One}, {Token: 1, Side: data.Buy, Shares: 4 * data.One, USD: data.One},
		{Token: 2, Side: data.Buy, Shares: 10 * data.One, USD: 8 * data.One}, {Token: 3, Side: data.Buy, Shares: 5 * data.One, USD: 4 * data.One},
		{Token: 3, Side: data.Sell, Shares: 4 * data.One, USD: 4 * data.One},
	}}
	return v
}

func TestEveryOracleResponseIsItsWireType(t *testing.T) {
	v := oracleVenue(t)
	for _, tier := range access.Tiers() {
		for _, query := range []string{"", "?min_resolved=1", "?min_resolved=100000", "?offset=3", "?offset=10000&limit=200"} {
			exact[wire.OracleLeaderboard](t, v.get(tier, "/oracle/leaderboard"+query).Body())
		}
		for _, wallet := range []int{0, 4, 20, 100} {
			exact[wire.One[wire.OracleTrader]](t, v.get(tier, "/oracle/trader/"+apitest.Wallet(wallet).String()).Body())
		}
	}
	empty := newVenue(t, &serving.Snapshot{Epoch: 1})
	if b := exact[wire.OracleLeaderboard](t, empty.get(access.Free, "/oracle/leaderboard").Body()); b.Total != 0 || b.Data == nil || len(b.Data) != 0 {
		t.Errorf("nothing imported: %+v", b)
	}
}

// Of wallets 20 to 299 without the 100th, 279, forty are divisible by 7: they made no error. The
// one with the most forecasts leads, and all share the first rank.
func TestForecastersAreRanked(t *testing.T) {
	v := oracleVenue(t)
	b := exact[wire.OracleLeaderboard](t, v.get(access.Alpha, "/oracle/leaderboard?limit=200").Body())
	if b.MinResolved != 20 || b.Total != 279 || len(b.Data) != 200 || *b.MaxRows != 200 || b.Truncated {
		t.Fatalf("%d of %d from %d", len(b.Data), b.Total, b.MinResolved)
	}
	for i, row := range b.Data[:40] {
		if n := 294 - 7*i; row.Rank != 1 || row.ResolvedForecasts != int64(n) || row.Brier != 0 || row.Address != apitest.Wallet(n).String() {
			t.Errorf("row %d: row = %+v", i, row)
		}
	}
	// Wallet 295: errors of 0.1; 295 is odd, so 148 outcomes paid 0 and 147 paid 1: 49.830508 % came true. Edge: those that paid 0
	// lose 0.1, the others gain it: −0.1 ÷ 295 = −0.000339. Skill 1 − 0.01 ÷ 0.25.
	row := b.Data[40]
	want := wire.OracleRow{Rank: 41, Address: apitest.Wallet(295).String(), ResolvedForecasts: 295, Brier: 10_000, BrierBaseline: 250_000,
		BrierSkill: row.BrierSkill, AccuracyPct: 49_830_508, AccuracyLowPct: row.AccuracyLowPct, AccuracyHighPct: row.AccuracyHighPct,
		Edge: -339, ForecastVolume: 2950 * data.One, Volume: 100 * data.One, RealPnL: 10 * data.One}
	if row != want || *row.BrierSkill != 960_000 || row.AccuracyLowPct >= row.AccuracyPct || row.AccuracyHighPct <= row.AccuracyPct {
		t.Errorf("got  %+v\nwant %+v", row, want)
	}
}

// The leaderboard that is encoded once and the one made for a request agree.
func TestOffsetsShowTheSameLeaderboard(t *testing.T) {
	v := oracleVenue(t)
	whole := exact[wire.OracleLeaderboard](t, v.get(access.Alpha, "/oracle/leaderboard?limit=200").Body()).Data
	for _, c := range []struct {
		query string
		from  int
		rows  int
	}{{"limit=200&offset=1", 1, 200}, {"limit=3&offset=197", 197, 3}, {"limit=200&offset=279", 279, 0}, {"limit=200&offset=100", 100, 179}} {
		part := exact[wire.OracleLeaderboard](t, v.get(access.Alpha, "/oracle/leaderboard?"+c.query).Body())
		if len(part.Data) != c.rows || part.Truncated {
			t.Errorf("%s: %d rows, want %d", c.query, len(part.Data), c.rows)
			continue
		}
		for i := range part.Data {
			if at := c.from + i; at < len(whole) && (part.Data[i].Address != whole[at].Address || part.Data[i].Rank != whole[at].Rank) {
				t.Errorf("%s: row %d is %s of rank %d", c.query, i, part.Data[i].Address, part.Data[i].Rank)
			}
		}
	}
	for query, total := range map[string]int{"min_resolved=1": 298, "min_resolved=21": 278, "min_resolved=299": 1, "min_resolved=300": 0} {
		if got := exact[wire.OracleLeaderboard](t, v.get(access.Free, "/oracle/leaderboard?"+query).Body()); got.Total != total {
			t.Errorf("%s: total %d, want %d", query, got.Total, total)
		}
	}
	free := exact[wire.OracleLeaderboard](t, v.get(access.Free, "/oracle/leaderboard?offset=270").Body())
	if len(free.Data) != 9 || free.Truncated || *free.MaxRows != 20 {
		t.Errorf("the last nine: %d rows, truncated %t", len(free.Data), free.Truncated)
	}
	free = exact[wire.OracleLeaderboard](t, v.get(access.Free, "/oracle/leaderboard?offset=5").Body())
	if len(free.Data) != 20 || !free.Truncated || *free.UpgradeHint != "explorer" {
		t.Errorf("free: %d rows, truncated %t", len(free.Data), free.Truncated)
	}
}

func TestOracleParametersAreStrict(t *testing.T) {
	v := oracleVenue(t)
	for query, param := range map[string]string{"min_resolved=0": "min_resolved", "min_resolved=100001": "min_resolved", "limit=201": "limit",
		"offset=10001": "offset", "min_resolved=5&min_resolved=6": "min_resolved", "period=7d": "period"} {
		if r := v.get(access.Alpha, "/oracle/leaderboard?"+query); r.status != 400 || r.text("param") != `"`+param+`"` {
			t.Errorf("%s: status = %d, body = %s", query, r.status, r.Body())
		}
	}
}

func TestAccuracyOfAWallet(t *testing.T) {
	v := oracleVenue(t)
	r := v.get(access.Free, "/oracle/trader/"+strings.ToUpper(apitest.Wallet(4).String()))
	a := exact[wire.One[wire.OracleTrader]](t, r.Body()).Data
	// Probabilities 0.2, 0.25, 0.8, 0.8 and payouts 0, 1, 1, 1: see rollups/oracle. Against one half: 0.25 each. 1 of 5 tokens
	// bought for 4 was kept, and all 4 dollars count: 2 + 1 + 8 + 4.
	if *a.Brier != 170_625 || *a.BrierBaseline != 250_000 || *a.BrierSkill != 317_500 || *a.AccuracyPct != 75*data.One || *a.Edge != 237_500 ||
		a.ForecastVolume != 15*data.One || a.ResolvedForecasts != 4 {
		t.Errorf("score: %+v", a.OracleScore)
	}
	if m := a.Murphy; *m.Reliability != 57_813 || *m.Resolution != 62_500 || *m.Uncertainty != 187_500 || *m.WithinBins != -12_188 {
		t.Errorf("murphy: %d %d %d %d", *m.Reliability, *m.Resolution, *m.Uncertainty, *m.WithinBins)
	}
	if len(a.Calibration) != 10 {
		t.Fatalf("got %d bins", len(a.Calibration))
	}
	for i, bin := range a.Calibration {
		n, p, o := int64(0), data.Micro(0), data.Micro(0)
		switch i {
		case 2:
			n, p, o = 2, 225_000, 500_000
		case 8:
			n, p, o = 2, 800_000, data.One
		}
		if bin.From != data.Micro(i)*100_000 || bin.To != bin.From+100_000 || bin.Forecasts != n || (n == 0) != (bin.MeanPayout == nil) ||
			n > 0 && (*bin.MeanProbability != p || *bin.MeanPayout != o) {
			t.Errorf("bin %d: bin = %+v", i, bin)
		}
	}
	var names []string
	for _, c := range a.Categories {
		name := "-"
		if c.Category != nil {
			name = *c.Category
		}
		names = append(names, fmt.Sprint(name, c.ResolvedForecasts))
	}
	if got := strings.Join(names, " "); got != "weather2 -1 crypto1" {
		t.Errorf("categories %s", got)
	}
	if a.Rank != nil || a.RankedTraders != 279 || a.MinResolved != 20 {
		t.Errorf("four forecasts have rank %v of %d", a.Rank, a.RankedTraders)
	}
}

func TestWalletsWithoutForecasts(t *testing.T) {
	v := oracleVenue(t)
	a := exact[wire.One[wire.OracleTrader]](t, v.get(access.Free, "/oracle/trader/"+apitest.Wallet(0).String()).Body()).Data
	if a.ResolvedForecasts != 0 || a.Brier != nil || a.AccuracyLowPct != nil || a.Murphy.Reliability != nil || a.Rank != nil ||
		len(a.Calibration) != 10 || a.Calibration[9].MeanPayout != nil || a.Categories == nil || len(a.Categories) != 0 || a.Volume == 0 {
		t.Errorf("%+v", a)
	}
	if r := v.get(access.Free, "/oracle/trader/"+apitest.Wallet(4000).String()); r.status != 404 || r.text("code") != `"trader_not_found"` {
		t.Errorf("never seen: %d %s", r.status, r.Body())
	}
	ranked := exact[wire.One[wire.OracleTrader]](t, v.get(access.Free, "/oracle/trader/"+apitest.Wallet(295).String()).Body()).Data
	if ranked.Rank == nil || *ranked.Rank != 41 {
		t.Errorf("wallet 295 has rank %v", ranked.Rank)
	}
	own := exact[wire.One[wire.OracleTrader]](t, v.get(access.Free, "/oracle/trader/"+apitest.Wallet(100).String()).Body()).Data
	if own.Rank != nil {
		t.Errorf("the venue's own wallet has rank %d", *own.Rank)
	}
}
