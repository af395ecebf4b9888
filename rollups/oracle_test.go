package rollups_test

import (
	"bytes"
	"cmp"
	"context"
	"database/sql"
	"slices"
	"strings"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"pmx/data"
	"pmx/rollups/oracle"
	"pmx/rollups/pnl"
	"pmx/rollups/serving"
)

// forecastsOf returns the forecasts of random fills by their definition.
func forecastsOf(fills []pnl.Fill, payouts map[data.Hash]pnl.Payout) []oracle.Forecast {
	var mine []oracle.Fill
	for _, f := range fills {
		mine = append(mine, oracle.Fill{Wallet: f.Wallet, Market: f.Market, Outcome: f.Outcome, Side: f.Side, Role: f.Role,
			Shares: f.Shares, USD: f.USD, Fee: f.Fee})
	}
	perToken := map[data.Hash][]data.Micro{}
	for market, p := range payouts {
		perToken[market] = p.PerToken
	}
	return oracle.Forecasts(mine, perToken)
}

const binsQuery = `SELECT w.address, bin, SUM(forecasts), SUM(correct), SUM(probability), SUM(payout), SUM(error), SUM(baseline_error), SUM(usd)
FROM (FROM oracle_bin UNION ALL FROM oracle_bin_delta) AS t JOIN wallets AS w ON w.wallet = t.wallet
GROUP BY w.address, bin HAVING SUM(forecasts) <> 0`

// compareForecasts compares the rollup with the definition.
func (v *venue) compareForecasts(t *rapid.T, fills []pnl.Fill, payouts map[data.Hash]pnl.Payout) {
	got := map[oracle.Key]oracle.Sums{}
	v.write(func(ctx context.Context, conn *sql.Conn) error {
		rows, err := conn.QueryContext(ctx, strings.ReplaceAll(binsQuery, "SUM(", "sum_int("))
		if err != nil {
			return err
		}
		defer func() { _ = rows.Close() }()
		for rows.Next() {
			var addr []byte
			var k oracle.Key
			var s oracle.Sums
			if err := rows.Scan(&addr, &k.Bin, &s.Forecasts, &s.Correct, &s.Probability, &s.Payout, &s.Error, &s.BaselineError, &s.BuyUSD); err != nil {
				return err
			}
			k.Wallet = data.Address(addr)
			got[k] = s
		}
		return rows.Err()
	})
	if diff := gocmp.Diff(oracle.Bins(forecastsOf(fills, payouts)), got); diff != "" {
		t.Fatalf("forecasts (-definition +database):\n%s", diff)
	}
}

// compareRanking compares the snapshot's scores and their order with the definition; address(0) is
// the venue's own and not ranked.
func compareRanking(t *rapid.T, fills []pnl.Fill, payouts map[data.Hash]pnl.Payout, snap *serving.Snapshot) {
	byWallet := map[data.Address][]oracle.Forecast{}
	for _, f := range forecastsOf(fills, payouts) {
		byWallet[f.Wallet] = append(byWallet[f.Wallet], f)
		for _, token := range snap.Catalog.Tokens(snap.Catalog.Find(f.Market).ID) {
			if int(snap.Catalog.Token(token).Outcome) == f.Outcome && snap.Oracle.Baseline(token) != f.Baseline {
				t.Fatalf("outcome %d of %s traded for %s on average, want %s", f.Outcome, f.Market, snap.Oracle.Baseline(token), f.Baseline)
			}
		}
	}
	for _, atLeast := range []int{1, 3} {
		var want []data.Address
		for w, list := range byWallet {
			if len(list) >= atLeast && w != address(0) {
				want = append(want, w)
			}
		}
		slices.SortFunc(want, func(x, y data.Address) int {
			a, b := byWallet[x], byWallet[y]
			return cmp.Or(oracle.Brier(a).Cmp(oracle.Brier(b)), cmp.Compare(len(b), len(a)), bytes.Compare(x[:], y[:]))
		})
		for _, most := range []int{1, 2, 100} {
			r := snap.Oracle.Ranking(atLeast, most)
			var got []data.Address
			for _, id := range r.Wallets {
				got = append(got, snap.WalletAt(id))
			}
			if diff := gocmp.Diff(want[:min(most, len(want))], got); diff != "" || r.Total != len(want) {
				t.Fatalf("first %d of those with %d: %d in all, want %d (-definition +snapshot):\n%s", most, atLeast, r.Total, len(want), diff)
			}
		}
	}
}

// Two tokens belong to the first outcome: 10 of one for 4 dollars and 10 of the other for 8 are one
// forecast of 0.6. The outcome pays 1, then, corrected, 0.
func TestTokensOfOneOutcomeAreOneForecast(t *testing.T) {
	fill := func(n int, tokenID string, usd data.Micro) data.Fill {
		return data.Fill{Tx: tx(n), LogIndex: int32(n), TS: start.UnixMicro(), Wallet: address(1), TokenID: tokenID, Role: data.Taker,
			Shares: 10 * data.One, USD: usd * data.One, Outcome: data.NoIndex}
	}
	resolved := func(version int, payouts ...data.Micro) data.Market {
		return data.Market{Condition: condition(0), Stub: true, Resolution: &data.Resolution{Condition: condition(0), Payouts: payouts,
			ResolvedAt: start, Source: data.ResolvedByAPI, Version: start.Add(time.Duration(version) * time.Hour)}}
	}
	v := newVenue(t, []step{
		{markets: []data.Market{{Condition: condition(0), Question: "?", UpdatedAt: start, Outcomes: []string{"x", "y"}, TokenIDs: []string{"a", "b"}}},
			refs: []data.TokenRef{{TokenID: "c", Condition: condition(0), Outcome: 0}}},
		{fills: []data.Fill{fill(1, "a", 4)}, markets: []data.Market{resolved(1, data.One, 0)}},
		{fills: []data.Fill{fill(2, "c", 8)}},
		{markets: []data.Market{resolved(2, 0, data.One)}},
	})
	defer v.close()
	for i, want := range []serving.Score{
		{},
		{Forecasts: 1, Correct: 1, Edge: 600_000, Error: 360_000_000_000, BaselineError: 360_000_000_000, BuyUSD: 4 * data.One},
		{Forecasts: 1, Correct: 1, Edge: 400_000, Error: 160_000_000_000, BaselineError: 160_000_000_000, BuyUSD: 12 * data.One},
		{Forecasts: 1, Edge: -600_000, Error: 360_000_000_000, BaselineError: 360_000_000_000, BuyUSD: 12 * data.One},
	} {
		v.importStep(i)
		var got serving.Score
		if trader, known := v.live.Snapshot().Trader(address(1)); known {
			got = v.live.Snapshot().Oracle.Score(trader.ID)
		}
		if got != want {
			t.Errorf("step %d: got %+v, want %+v", i, got, want)
		}
		v.proved()
	}
}
