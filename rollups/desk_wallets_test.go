package rollups_test

import (
	"bytes"
	"cmp"
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"pmx/data"
	"pmx/data/reference"
	"pmx/data/testfiles"
	"pmx/rollups"
	"pmx/rollups/pnl"
	"pmx/rollups/serving"
)

// listed describes market i as the venue may list it: as one of three brackets of
// London's 5 January or of New York's, under another tag, under another title, or with
// a label that takes its whole event off the desk.
func listed(kind string, i int) data.Market {
	city, slug := "London", "london"
	if kind == "new york" {
		city, slug = "NYC", "nyc"
	}
	label := []string{"10°C or below", "11°C", "12°C or higher"}[i%3]
	m := data.Market{Condition: condition(i), EventID: "7" + slug, EventTitle: "Highest temperature in " + city + " on January 5?",
		EventSlug: "highest-temperature-in-" + slug + "-on-january-5-2026", Tags: []string{"weather", "highest-temperature"},
		Question: "Will the highest temperature in " + city + " be " + label + " on January 5?", GroupItemTitle: label, Category: "weather",
		EndAt: time.Date(2026, 1, 5, 12, 0, 0, 0, time.UTC), Outcomes: []string{"Yes", "No"}}
	switch kind {
	case "other tag":
		m.Tags = []string{"weather"}
	case "other title":
		m.EventTitle = "The warmest day in London?"
	case "other label":
		m.Question, m.GroupItemTitle = "snow", "snow"
	}
	return m
}

// drawDesk generates listings that change, payouts that are corrected, tokens that are mapped late
// or to other markets, and fills, distributed over files in any order.
func drawDesk(t *rapid.T) []step {
	steps := make([]step, rapid.IntRange(2, 6).Draw(t, "files"))
	rng := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "deal"), 3))
	any := func() *step { return &steps[rng.IntN(len(steps))] }
	kinds := []string{"london", "london", "london", "new york", "other tag", "other title", "other label"}
	for i := range 4 {
		for v := range rapid.IntRange(1, 3).Draw(t, "versions") {
			m := listed(rapid.SampledFrom(kinds).Draw(t, "kind"), i)
			m.UpdatedAt = start.Add(time.Duration(v) * time.Hour)
			if rapid.Bool().Draw(t, "lists its tokens") {
				m.TokenIDs = []string{token(i, 0), token(i, 1)}
				if rapid.IntRange(0, 5).Draw(t, "takes another's token") == 0 {
					m.TokenIDs[1] = token((i+1)%4, 1)
				}
			}
			s := any()
			s.markets = append(s.markets, m)
		}
		for v := range rapid.IntRange(0, 2).Draw(t, "payouts") {
			pay := rapid.SampledFrom([][]data.Micro{{data.One, 0}, {0, data.One}, {500_000, 500_000}}).Draw(t, "payout")
			s := any()
			s.markets = append(s.markets, data.Market{Condition: condition(i), Stub: true, Resolution: &data.Resolution{Condition: condition(i),
				Payouts: pay, ResolvedAt: start, Source: data.ResolvedByAPI, Version: start.Add(time.Duration(v) * time.Hour)}})
		}
		s := any()
		s.refs = append(s.refs, data.TokenRef{TokenID: token(i, 0), Condition: condition(i)}, data.TokenRef{TokenID: token(i, 1), Condition: condition(i), Outcome: 1})
	}
	for i := range rapid.IntRange(1, 50).Draw(t, "fills") {
		f := data.Fill{Tx: tx(i), LogIndex: int32(i), TS: start.UnixMicro() + rapid.Int64Range(0, 40).Draw(t, "hour")*3_600_000_000,
			Wallet: address(rapid.IntRange(0, 5).Draw(t, "wallet")), Side: data.Side(rapid.IntRange(0, 1).Draw(t, "side")),
			Role: data.Role(rapid.IntRange(0, 2).Draw(t, "role")), TokenID: token(rapid.IntRange(0, 4).Draw(t, "market"), rapid.IntRange(0, 1).Draw(t, "outcome")),
			Shares: data.Micro(rapid.IntRange(1, 9).Draw(t, "shares")) * 333_333, Outcome: data.NoIndex}
		f.Fee = data.Micro(rapid.IntRange(int(f.Side)-1, 2).Draw(t, "fee")) * 1_111
		f.USD = f.Shares * data.Micro(rapid.IntRange(0, 10).Draw(t, "price")) / 10
		s := any()
		s.fills = append(s.fills, f)
	}
	return steps
}

// deskOf reads which tokens belong to which market of the desk, and what these paid.
func (v *venue) deskOf() (of map[string]pnl.Fill, payouts map[data.Hash]pnl.Payout) {
	of, payouts = map[string]pnl.Fill{}, map[data.Hash]pnl.Payout{}
	v.write(func(ctx context.Context, conn *sql.Conn) error {
		rows, err := conn.QueryContext(ctx, `SELECT t.token_id, t.outcome, m.condition, coalesce(to_json(m.payouts)::VARCHAR, '')
			FROM tokens AS t JOIN markets AS m ON m.market = t.market JOIN desk_market AS d ON d.market = m.market`)
		if err != nil {
			return err
		}
		defer func() { _ = rows.Close() }()
		for rows.Next() {
			var tokenID, paid string
			var market []byte
			var f pnl.Fill
			if err := rows.Scan(&tokenID, &f.Outcome, &market, &paid); err != nil {
				return err
			}
			copy(f.Market[:], market)
			of[tokenID] = f
			if paid != "" {
				var p []int64
				if err := json.Unmarshal([]byte(paid), &p); err != nil {
					return err
				}
				var per []data.Micro
				for _, n := range p {
					per = append(per, data.Micro(n))
				}
				payouts[f.Market] = pnl.Payout{PerToken: per}
			}
		}
		return rows.Err()
	})
	return of, payouts
}

// compareDesk compares the snapshot's traders of the desk with the definition of a wallet's profit
// over the fills of the desk's markets only, and returns their number.
func (v *venue) compareDesk(t rapid.TB, fills []data.Fill) int {
	of, payouts := v.deskOf()
	var mine []pnl.Fill
	for _, f := range fills {
		if p, on := of[f.TokenID]; on {
			p.TS, p.Wallet, p.Token, p.Side, p.Role, p.Shares, p.USD, p.Fee = f.TS, f.Wallet, f.TokenID, f.Side, f.Role, f.Shares, f.USD, f.Fee
			mine = append(mine, p)
		}
	}
	var all []serving.DeskTraderRow
	for w, d := range pnl.Wallets(mine, payouts) {
		if w != address(0) { // the venue's own
			all = append(all, serving.DeskTraderRow{Wallet: w, DeskFigures: serving.DeskFigures{Fills: d.Fills, Markets: int32(d.Markets),
				ResolvedMarkets: int32(d.ResolvedMarkets), WinningMarkets: int32(d.WinningMarkets), BuyUSD: d.BuyUSD, SellUSD: d.SellUSD,
				FeeUSD: d.FeeUSD, Redemption: d.Redemption, FirstTS: d.FirstTS, LastTS: d.LastTS}})
		}
	}
	got := &serving.DeskTraders{}
	if snap := v.live.Snapshot(); snap != nil { // nil: only files with nothing in them were imported
		got = snap.DeskTraders
	}
	if got.Total != len(all) {
		t.Fatalf("got %d traders, want %d", got.Total, len(all))
	}
	for s := range serving.DeskSorts {
		slices.SortFunc(all, func(a, b serving.DeskTraderRow) int {
			return cmp.Or(cmp.Compare(b.By(s), a.By(s)), cmp.Compare(b.By(1-s), a.By(1-s)), bytes.Compare(a.Wallet[:], b.Wallet[:]))
		})
		for i := range all {
			all[i].Rank = 1 + slices.IndexFunc(all, func(o serving.DeskTraderRow) bool { return o.By(s) == all[i].By(s) })
		}
		if diff := gocmp.Diff(all, append([]serving.DeskTraderRow(nil), got.Leaderboards[s]...)); diff != "" {
			t.Fatalf("by %s (-definition +snapshot):\n%s", s, diff)
		}
	}
	return len(all)
}

func TestTheDesksTradersAreTheDefinitionHoweverTheDeskChanges(t *testing.T) {
	traders := 0
	check := func(rt *rapid.T) {
		steps := drawDesk(rt)
		v := newVenue(t, steps)
		defer v.close()
		v.drawAtOnce(rt)
		var fills []data.Fill
		for i, s := range steps {
			if rapid.IntRange(0, 9).Draw(rt, "bulk") == 0 {
				v.im.BulkRows = 1
			}
			r := v.importStep(i)
			v.im.BulkRows = 0
			if r.RebuildNeeded || rapid.IntRange(0, 9).Draw(rt, "rebuild") == 0 {
				v.rebuild()
			}
			if rapid.IntRange(0, 3).Draw(rt, "warm") == 0 {
				v.write(func(ctx context.Context, conn *sql.Conn) error { return v.merger.Warm(ctx, conn) })
			}
			if rapid.IntRange(0, 3).Draw(rt, "compact") == 0 {
				v.write(func(ctx context.Context, conn *sql.Conn) error { return rollups.CompactAll(ctx, conn, 3) })
			}
			fills = append(fills, s.fills...)
			traders = max(traders, v.compareDesk(rt, fills))
		}
		v.followed(rt)
		v.verify(rt)
	}
	rapid.Check(t, check)
	for range 4 { // all cases of a round may be small
		if testfiles.Long() && traders < 3 {
			rapid.Check(t, check)
		}
	}
	if testfiles.Long() && traders < 3 {
		t.Errorf("%d traders at most: nothing was tried", traders)
	}
}

// A token moves from a bracket that leaves the desk to one that joins it, in one file: the wallet
// has still traded one market, with the payout of the new one.
func TestATokenMovesBetweenBrackets(t *testing.T) {
	testfiles.InLong(t, "TestIndexFollowsATokenFromMarketToMarket moves one")
	was, left, came := listed("london", 0), listed("other title", 0), listed("new york", 1)
	was.UpdatedAt, left.UpdatedAt, came.UpdatedAt = start, start.Add(time.Hour), start.Add(2*time.Hour)
	was.TokenIDs, came.TokenIDs = []string{token(0, 0), token(0, 1)}, []string{token(0, 0), token(1, 1)}
	paid := func(i int, payouts ...data.Micro) data.Market {
		return data.Market{Condition: condition(i), Stub: true, Resolution: &data.Resolution{Condition: condition(i), Payouts: payouts,
			ResolvedAt: start, Source: data.ResolvedByAPI, Version: start}}
	}
	fills := []data.Fill{{Tx: tx(1), LogIndex: 1, TS: start.UnixMicro(), Wallet: address(1), TokenID: token(0, 0), Shares: 5 * data.One,
		USD: 2 * data.One, Outcome: data.NoIndex}}
	v := newVenue(t, []step{
		{markets: []data.Market{was, paid(0, 0, data.One)}, fills: fills},
		{markets: []data.Market{left, came, paid(1, data.One, 0)}},
	})
	defer v.close()
	want := serving.DeskFigures{Fills: 1, Markets: 1, ResolvedMarkets: 1, BuyUSD: 2 * data.One, FirstTS: fills[0].TS, LastTS: fills[0].TS}
	for i, redemption := range []data.Micro{0, 5 * data.One} {
		v.importStep(i)
		want.Redemption, want.WinningMarkets = redemption, int32(i)
		v.compareDesk(t, fills)
		if rows := v.live.Snapshot().DeskTraders.Leaderboards[serving.ByRealPnL]; len(rows) != 1 || rows[0].DeskFigures != want {
			t.Errorf("after file %d: rows = %+v, want %+v", i, rows, want)
		}
	}
	v.verifyDesk()
}

// readDesk computes the desk with the cities that keep selects.
func (v *venue) readDesk(keep func(data.City) bool) {
	var few []data.City
	for _, c := range reference.Gazetteer().Cities() {
		if keep(c) {
			few = append(few, c)
		}
	}
	places, err := data.NewGazetteer(few, nil, nil)
	if err != nil {
		v.t.Fatal(err)
	}
	v.write(func(ctx context.Context, conn *sql.Conn) error {
		_, err := rollups.RefreshDesk(ctx, conn, places)
		return err
	})
	v.live.Cities = places
	v.write(v.live.Load)
}

// If an operator removes cities, their traders are removed, too.
func TestTheDesksTradersFollowTheOperatorsCities(t *testing.T) {
	testfiles.InLong(t, "TestDeskIsRebuiltForOtherCities opens a venue with other cities")
	var steps []step
	for i, kind := range []string{"london", "new york"} {
		m := listed(kind, i)
		m.UpdatedAt, m.TokenIDs = start, []string{token(i, 0), token(i, 1)}
		steps = append(steps, step{markets: []data.Market{m}, fills: []data.Fill{{Tx: tx(i), LogIndex: 1, TS: start.UnixMicro(), Wallet: address(i + 1),
			TokenID: token(i, 0), Shares: 5 * data.One, USD: 2 * data.One, Outcome: data.NoIndex}}})
	}
	v := newVenue(t, steps)
	defer v.close()
	fills := []data.Fill{}
	for i, s := range steps {
		v.importStep(i)
		fills = append(fills, s.fills...)
	}
	for _, step := range []struct {
		city    string // taken away
		traders int
	}{{"", 2}, {"nyc", 1}, {"", 2}, {"london", 1}} {
		v.readDesk(func(c data.City) bool { return c.Slug != step.city })
		if n := v.compareDesk(t, fills); n != step.traders {
			t.Errorf("without %q %d traders, want %d", step.city, n, step.traders)
		}
		v.verifyDesk()
	}
}

// verifyDesk verifies the rollup of the desk's traders.
func (v *venue) verifyDesk() {
	v.write(func(ctx context.Context, conn *sql.Conn) error {
		checks, err := rollups.Verify(ctx, conn, v.live.Cities, nil, nil)
		if i := slices.IndexFunc(checks, func(c rollups.Check) bool { return c.Name == "rebuilt_desk_wallet" }); err == nil && (i < 0 || !checks[i].OK) {
			return fmt.Errorf("desk_wallet is not its definition: %+v", checks)
		}
		return err
	})
}
