package api_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"pmx/data"
	"pmx/http/access"
	"pmx/http/api/apitest"
	"pmx/http/wire"
	"pmx/rollups/index"
	"pmx/rollups/serving"
)

func TestEveryWhaleAndIndexResponseIsItsWireType(t *testing.T) {
	for _, n := range []int{0, 1, 30, 360} {
		snap := apitest.Snapshot(1, 10, 3)
		snap.Whales, snap.Index = apitest.Whales(n, n), apitest.Index(n)
		v := newVenue(t, snap)
		if n == 0 {
			v = newVenue(t, &serving.Snapshot{Epoch: 1}) // nothing was ever imported
		}
		for _, tier := range access.Tiers() {
			for _, period := range []string{"1d", "7d", "30d"} {
				exact[wire.WhaleLeaderboard](t, v.get(tier, "/whales?period="+period).Body())
				flow := exact[wire.WhaleFlow](t, v.get(tier, "/whales/flow?period="+period).Body())
				if want := map[string]int{"1d": 24, "7d": 28, "30d": 30}[period]; n > 0 && len(flow.Series) != want {
					t.Errorf("%s: %d steps, want %d", period, len(flow.Series), want)
				}
				for _, interval := range []string{"1h", "6h", "1d"} {
					fine := exact[wire.WhaleFlow](t, v.get(tier, "/whales/flow?period="+period+"&interval="+interval).Body())
					checkFlow(t, period+" by "+interval, &flow, &fine, map[string]int{"1h": 1, "6h": 6, "1d": 24}[interval])
				}
			}
			exact[wire.WhaleMoves](t, v.get(tier, "/whales/moves").Body())
			exact[wire.WhaleMoves](t, v.get(tier, "/whales/moves?side=SELL&min_usd=20000.5&limit=7").Body())
			exact[wire.One[wire.PMXIndex]](t, v.get(tier, "/pmx-index").Body())
			for _, interval := range []string{"1h", "6h", "1d"} {
				exact[wire.PMXHistory](t, v.get(tier, "/pmx-index/PMX-Crypto/history?interval="+interval).Body())
				exact[wire.PMXHistories](t, v.get(tier, "/pmx-index/histories?interval="+interval).Body())
			}
		}
	}
}

// checkFlow compares a flow by steps of some hours with the one by the usual steps. One step
// consists of whole steps of the other.
func checkFlow(t *testing.T, name string, usual, flow *wire.WhaleFlow, hours int) {
	t.Helper()
	if flow.Moves != usual.Moves || flow.NetFlow != usual.NetFlow || len(flow.Data) != len(usual.Data) {
		t.Errorf("%s: %d moves and %s net, want %d and %s", name, flow.Moves, flow.NetFlow, usual.Moves, usual.NetFlow)
	}
	if len(usual.Series) == 0 {
		return
	}
	sum := func(series []wire.WhaleFlowBucket) (n int64, buy, net data.Micro, hours []float64) {
		for _, s := range series {
			n, buy, net, hours = n+s.Moves, buy+s.BuyUSD, net+s.NetFlow, append(hours, s.End.Sub(s.Start).Hours())
		}
		return n, buy, net, hours
	}
	few, many := usual.Series, flow.Series
	if len(few) > len(many) {
		few, many = many, few
	}
	for i := range few {
		per := len(many) / len(few)
		n, buy, net, steps := sum(many[i*per : (i+1)*per])
		wantN, wantBuy, wantNet, _ := sum(few[i : i+1])
		if n != wantN || buy != wantBuy || net != wantNet || len(flow.Series) == len(many) && steps[0] != float64(hours) {
			t.Errorf("%s: step %d has %d moves, %s bought, %s net, want %d, %s, %s, each %v hours", name, i, n, buy, net, wantN, wantBuy, wantNet, steps)
		}
	}
}

// walkMoves reads all pages by next_cursor.
func walkMoves(t *testing.T, v *venue, tier access.Tier, query string) (rows []wire.WhaleMove, last wire.WhaleMoves) {
	t.Helper()
	cursor := ""
	for range 100 {
		page := exact[wire.WhaleMoves](t, v.get(tier, "/whales/moves?limit=7"+query+cursor).Body())
		rows, last = append(rows, page.Data...), page
		if page.NextCursor == nil {
			return rows, last
		}
		cursor = "&cursor=" + *page.NextCursor
	}
	t.Fatal("the scan does not end")
	return nil, last
}

// Twenty moves in memory, older ones in the database: the scan goes through both.
func TestMovesScanFromMemoryIntoTheDatabase(t *testing.T) {
	snap := apitest.Snapshot(1, 10, 3)
	snap.Whales = apitest.Whales(20, 0)
	snap.Whales.Since = apitest.Move(20).TS
	v := newVenue(t, snap)
	for i := 20; i < 53; i++ {
		v.moves.Older = append(v.moves.Older, apitest.Move(i))
	}
	for _, query := range []string{"", "&side=BUY", "&side=SELL", "&min_usd=150000"} {
		rows, last := walkMoves(t, v, access.Alpha, query)
		var want []int
		for i := range 53 {
			m := apitest.Move(i)
			if query == "" || query == "&side=BUY" && m.Side == data.Buy || query == "&side=SELL" && m.Side == data.Sell ||
				query == "&min_usd=150000" && m.USD >= 150_000*data.One {
				want = append(want, i)
			}
		}
		if len(rows) != len(want) || last.Truncated {
			t.Fatalf("%q: %d rows, want %d; truncated %t", query, len(rows), len(want), last.Truncated)
		}
		for n, i := range want {
			if m := apitest.Move(i); rows[n].USD != m.USD || !rows[n].TS.Equal(time.UnixMicro(m.TS).UTC().Truncate(time.Second)) {
				t.Errorf("%q: row %d is %+v, want %+v", query, n, rows[n], m)
			}
		}
	}
	if rows, _ := walkMoves(t, v, access.Alpha, ""); rows[0].RealPnL == 0 || rows[0].TransactionHash != nil || rows[1].TransactionHash == nil ||
		rows[0].ConditionID != nil || rows[0].Side != "BUY" || *rows[0].Price != 200_000 {
		t.Errorf("first rows: %+v %+v", rows[0], rows[1])
	}
}

// The free plan ends 30 days back, and so does memory; the page says that older moves are left out,
// and which plan shows them.
func TestMovesAreCutByThePlansHistory(t *testing.T) {
	snap := apitest.Snapshot(1, 10, 3)
	snap.Whales = apitest.Whales(10, 0)
	v := newVenue(t, snap)
	old := apitest.Move(0)
	old.TS = apitest.AsOf.Add(-100 * 24 * time.Hour).UnixMicro()
	v.moves.Older = []serving.Move{old}
	if rows, last := walkMoves(t, v, access.Free, ""); len(rows) != 10 || !last.Truncated || *last.UpgradeHint != "explorer" {
		t.Errorf("free: %d rows, %+v", len(rows), last.Envelope)
	}
	if rows, last := walkMoves(t, v, access.Explorer, ""); len(rows) != 11 || last.Truncated {
		t.Errorf("explorer: %d rows, %+v", len(rows), last.Envelope)
	}
}

func TestWhaleParametersAreStrict(t *testing.T) {
	snap := apitest.Snapshot(1, 10, 3)
	snap.Whales = apitest.Whales(60, 60)
	v := newVenue(t, snap)
	first := exact[wire.WhaleMoves](t, v.get(access.Alpha, "/whales/moves?limit=5").Body())
	unseen := fmt.Sprintf("0x%064x", 1)
	for path, want := range map[string]string{
		"/whales?limit=201": "400 invalid_parameter", "/whales?period=2d": "400 invalid_parameter", "/whales?side=BUY": "400 unknown_parameter",
		"/whales/moves?min_usd=9999.99": "400 invalid_parameter", "/whales/moves?min_usd=10000": "200 ", "/whales/moves?side=buy": "400 invalid_parameter",
		"/whales/moves?market_id=" + unseen: "404 market_not_found", "/whales/moves?address=" + apitest.Wallet(999).String(): "404 trader_not_found",
		"/whales/moves?address=" + apitest.Wallet(9).String(): "200 ",
		"/whales/moves?limit=9&cursor=" + *first.NextCursor:   "200 ", "/whales/moves?side=BUY&cursor=" + *first.NextCursor: "400 invalid_cursor",
		"/whales/moves?category=politic": "400 invalid_parameter", "/whales/moves?category=Politics": "200 ",
		"/whales/flow?market_id=" + unseen: "404 market_not_found", "/whales/flow?market_id=0x12": "400 invalid_parameter",
		"/pmx-index/PMX-Volumes/history": "404 index_not_found", "/pmx-index/pmx-composite/history": "200 ",
		"/pmx-index/histories?name=PMX-Volumes": "400 invalid_parameter", "/pmx-index/PMX-Volume/history?limit=2001": "400 invalid_parameter", "/pmx-index/PMX-Volume/history?from=now": "400 invalid_parameter",
	} {
		r := v.get(access.Alpha, path)
		code := ""
		if r.status != 200 {
			code = exact[wire.Problem](t, r.Body()).Code
		}
		if got := fmt.Sprint(r.status, " ", code); got != want {
			t.Errorf("%s: got %s, want %s", path, got, want)
		}
	}
}

// as_of is 2026-03-14T15:09:26Z.  A free plan sees 30 days: from the hour of
// 2026-02-12T15:09:26 on, 15:00, which makes 9 + 16×24 + 13×24 + 16 = 721.
func TestIndexHistoryIsCutAndPaged(t *testing.T) {
	snap := apitest.Snapshot(1, 3, 3)
	snap.Index = apitest.Index(1000)
	v := newVenue(t, snap)
	first := time.Unix(snap.Index.FirstHour*3600, 0).UTC()
	for _, c := range []struct {
		tier      access.Tier
		query     string
		rows      int
		from      time.Time
		truncated bool
	}{
		{access.Alpha, "", 168, first.Add(832 * time.Hour), false},
		{access.Alpha, "?limit=2000", 1000, first, false},
		{access.Free, "?limit=2000", 721, time.Date(2026, 2, 12, 15, 0, 0, 0, time.UTC), true},
		{access.Free, "?limit=721", 721, time.Date(2026, 2, 12, 15, 0, 0, 0, time.UTC), false},
		{access.Free, "?limit=3&from=2026-02-05", 3, time.Date(2026, 2, 12, 15, 0, 0, 0, time.UTC), true},
		{access.Alpha, "?limit=3&from=2026-02-05T00:30:00Z", 3, time.Date(2026, 2, 5, 1, 0, 0, 0, time.UTC), false},
		{access.Alpha, "?interval=6h&limit=3&from=2026-02-05T00:30:00Z", 3, time.Date(2026, 2, 5, 6, 0, 0, 0, time.UTC), false},
		{access.Alpha, "?from=2026-03-15", 0, time.Time{}, false},
	} {
		h := exact[wire.PMXHistory](t, v.get(c.tier, "/pmx-index/PMX-Volume/history"+c.query).Body())
		if len(h.Data) != c.rows || h.Truncated != c.truncated || c.rows > 0 && !h.Data[0].Time.Equal(c.from) {
			t.Errorf("%s %s: %d rows, truncated %t, %+v", c.tier, c.query, len(h.Data), h.Truncated, h.Data[:min(1, len(h.Data))])
		}
	}
	// All indices at once have the closing values of each.
	for _, c := range []struct {
		tier  access.Tier
		query string
		one   string // the same rows of one index
		names int
	}{
		{access.Alpha, "", "?interval=1d&limit=90", 6},
		{access.Free, "?interval=1h&limit=2000&name=PMX-Volume", "?limit=2000", 1},
		{access.Free, "?interval=6h&limit=3&from=2026-02-05&name=PMX-Volume&name=PMX-Composite", "?interval=6h&limit=3&from=2026-02-05", 2},
		{access.Alpha, "?from=2026-03-15", "?interval=1d&from=2026-03-15", 6},
	} {
		all := exact[wire.PMXHistories](t, v.get(c.tier, "/pmx-index/histories"+c.query).Body())
		one := exact[wire.PMXHistory](t, v.get(c.tier, "/pmx-index/PMX-Volume/history"+c.one).Body())
		if len(all.Data) != c.names || all.Truncated != one.Truncated || all.Interval != one.Interval {
			t.Errorf("%s: %d indices by %s, truncated %t", c.query, len(all.Data), all.Interval, all.Truncated)
		}
		at := slices.IndexFunc(all.Data, func(l wire.PMXLine) bool { return l.Name == "PMX-Volume" })
		var want []wire.PMXPoint
		for _, b := range one.Data {
			want = append(want, wire.PMXPoint{Time: b.Time, Value: b.Value, IsPartial: b.IsPartial})
		}
		if diff := cmp.Diff(want, all.Data[at].Points, cmpopts.EquateEmpty()); diff != "" {
			t.Errorf("%s (-one +several):\n%s", c.query, diff)
		}
		if c.names > 1 && all.Data[0].Name != "PMX-Composite" {
			t.Errorf("%s: %s comes first", c.query, all.Data[0].Name)
		}
	}
	// Six hours: the bars of hours 0 to 5 of the history are 2…7 of PMX-Volume, a point apart.
	six := exact[wire.PMXHistory](t, v.get(access.Alpha, "/pmx-index/PMX-Volume/history?interval=6h&limit=2000").Body()).Data
	skip := 0 // hours of the first row before the history begins
	if h := int(snap.Index.FirstHour % 6); h > 0 {
		skip = h
	}
	want := index.Bar{Open: 2 * data.One, High: data.Micro(7-skip)*data.One + 3, Low: 2*data.One - 2, Close: data.Micro(7-skip)*data.One + 1}
	if b := six[0]; (index.Bar{Open: *b.Open, High: *b.High, Low: *b.Low, Close: *b.Close}) != want || *b.Value != *b.Close || b.IsPartial {
		t.Errorf("first six hours %+v, want %v", b, want)
	}
	if !six[len(six)-1].IsPartial {
		t.Error("the last row is not flagged")
	}
}
