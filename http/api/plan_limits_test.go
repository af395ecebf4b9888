package api_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"pmx/data"
	"pmx/data/testfiles"
	"pmx/http/access"
	"pmx/http/api/apitest"
	"pmx/rollups/serving"
)

// hintVenue has fills of wallet 1, whale moves, days and an index of which some are
// at the edges of the plans' histories, to the microsecond.
func hintVenue(t *testing.T, ages []time.Duration, days, hours int) *venue {
	t.Helper()
	var fills []serving.Fill
	for i, age := range ages {
		fills = append(fills, serving.Fill{TS: ago(age), LogIndex: data.NoIndex, Token: 4, Repeat: int16(i + 1), Side: data.Buy, Shares: 1, USD: 1})
	}
	v := tradesVenue(t, fills)
	snap := *v.source.Snapshot()
	snap.Epoch, snap.Stats, snap.Index, snap.Whales = 2, apitest.Stats(days), apitest.Index(hours), apitest.Whales(0, 0)
	for i, age := range ages {
		m := apitest.Move(i)
		if m.TS = ago(age); m.TS > snap.Whales.Since {
			snap.Whales.Moves = append(snap.Whales.Moves, m)
		} else {
			v.moves.Older = append(v.moves.Older, m)
		}
	}
	sortMoves(snap.Whales.Moves, 1)
	sortMoves(v.moves.Older, -1)
	v.api.Publish(&snap)
	return v
}

// A list that is cut to the plan's history names the lowest plan that helps: for a series, the plan
// that shows all of it; for a scan, the plan that shows the next row. No lower plan may do the
// same.
func TestTheHintIsTheLowestPlanThatHelps(t *testing.T) {
	day := 24 * time.Hour
	edges := []time.Duration{0, time.Hour, 30 * day, 31 * day, 180 * day, 181 * day, 365 * day, 366 * day, 500 * day}
	for seed := range uint64(testfiles.Cases(3, 8)) {
		r := rand.New(rand.NewPCG(seed, 0))
		var ages []time.Duration
		for range 1 + r.IntN(8) {
			age := edges[r.IntN(len(edges))] + time.Duration(r.IntN(3)-1)*time.Microsecond
			ages = append(ages, max(0, age))
		}
		v := hintVenue(t, ages, 1+r.IntN(400), 1+r.IntN(9000))
		wallet := "/trader/" + apitest.Wallet(1).String()
		for _, path := range []string{wallet + "/trades?limit=20", "/whales/moves?limit=20", wallet + "/activity/daily?limit=365", "/stats/daily?days=3650",
			"/pmx-index/PMX-Volume/history?limit=2000", "/pmx-index/PMX-Volume/history?interval=6h&limit=2000", "/pmx-index/PMX-Volume/history?interval=1d&limit=2000"} {
			walk := path == wallet+"/trades?limit=20" || path == "/whales/moves?limit=20"
			shown := map[string]int{}
			for _, tier := range access.Tiers() {
				shown[tier.String()] = v.get(tier, path).rows(t)
			}
			for _, tier := range access.Tiers() {
				a, rows := v.get(tier, path), shown[tier.String()]
				want := "null"
				for _, better := range access.Tiers() {
					if helps := shown[better.String()]; want == "null" && rows < shown["alpha"] && (walk && helps > rows || helps == shown["alpha"]) {
						want = fmt.Sprintf("%q", better)
					}
				}
				if got := a.text("upgrade_hint"); got != want || (got != "null") != (a.text("truncated") == "true") {
					t.Errorf("%s %s: %d of %d rows, hint %s, want %s; ages %v", tier, path, rows, shown["alpha"], got, want, ages)
				}
			}
		}
	}
}

// A row that is exactly as old as the plan's history is shown.
func TestARowAtTheEdgeOfTheHistoryIsShown(t *testing.T) {
	for tier, days := range map[access.Tier]int{access.Free: 30, access.Explorer: 180, access.Trader: 365} {
		for off, want := range map[time.Duration]int{0: 1, time.Microsecond: 0} {
			v := hintVenue(t, []time.Duration{time.Duration(days)*24*time.Hour + off}, 1, 1)
			for _, path := range []string{"/trader/" + apitest.Wallet(1).String() + "/trades", "/whales/moves"} {
				if r := v.get(tier, path); r.rows(t) != want || (r.text("truncated") == "true") != (want == 0) {
					t.Errorf("%s %s: %d rows of an age of %d days and %s, truncated %s", tier, path, r.rows(t), days, off, r.text("truncated"))
				}
			}
		}
	}
}

// sortMoves sorts by time, direction 1 for the oldest first.
func sortMoves(moves []serving.Move, direction int) {
	slices.SortFunc(moves, func(a, b serving.Move) int { return direction * a.Compare(&b) })
}
