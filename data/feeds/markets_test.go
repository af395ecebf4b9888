package feeds_test

import (
	"math/big"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"pmx/data"
)

func gammaRow(extra string) string {
	return `{"id":"12","question":"Q?","conditionId":"` + hexC + `","outcomes":"[\"Yes\", \"No\"]","clobTokenIds":"[\"7\", \"` + maxToken + `\"]"` + extra + `}`
}

// TestGammaResolution: outcome prices count only after the oracle has answered, or, for old markets
// without an oracle status, if they are unambiguous.
func TestGammaResolution(t *testing.T) {
	yes, no, even := []data.Micro{data.One, 0}, []data.Micro{0, data.One}, []data.Micro{500000, 500000}
	for _, tc := range []struct {
		name, extra string
		want        []data.Micro
	}{
		{"resolved", `,"closed":true,"umaResolutionStatus":"resolved","outcomePrices":"[\"1\",\"0\"]"`, yes},
		{"strings", `,"closed":"True","umaResolutionStatus":"resolved","outcomePrices":["0","1"]`, no},
		{"python list", `,"closed":true,"umaResolutionStatus":"resolved","outcomePrices":"['0', '1']"`, no},
		{"AMM prices", `,"closed":true,"umaResolutionStatus":"resolved","outcomePrices":"[\"0.9999989\",\"0.0000011\"]"`, yes},
		{"half", `,"closed":true,"umaResolutionStatus":"resolved","outcomePrices":"[\"0.5\",\"0.5\"]"`, even},
		{"nearly half", `,"closed":true,"umaResolutionStatus":"resolved","outcomePrices":"[\"0.4995\",\"0.5005\"]"`, even},
		{"between", `,"closed":true,"umaResolutionStatus":"resolved","outcomePrices":"[\"0.25\",\"0.75\"]"`, nil},
		{"proposed", `,"closed":true,"umaResolutionStatus":"proposed","outcomePrices":"[\"1\",\"0\"]"`, nil},
		{"disputed", `,"closed":true,"umaResolutionStatus":"disputed","outcomePrices":"[\"1\",\"0\"]"`, nil},
		{"open", `,"closed":false,"umaResolutionStatus":"resolved","outcomePrices":"[\"1\",\"0\"]"`, nil},
		{"old and clear", `,"closed":true,"outcomePrices":"[\"0.00001\",\"0.99999\"]"`, no},
		{"old and even", `,"closed":true,"outcomePrices":"[\"0.5\",\"0.5\"]"`, nil},
		{"old and wiped", `,"closed":true,"outcomePrices":"[\"0\",\"0\"]"`, nil},
		{"no prices", `,"closed":true,"umaResolutionStatus":"resolved"`, nil},
		{"a time of closing", `,"closedTime":"2025-11-01 06:28:08+00","outcomePrices":"[\"1\",\"0\"]"`, yes},
		{"a time, and disputed", `,"closedTime":"2025-11-01 06:28:08+00","umaResolutionStatus":"disputed","outcomePrices":"[\"1\",\"0\"]"`, nil},
		{"the oracle alone", `,"umaResolutionStatus":"resolved","outcomePrices":"[\"0\",\"1\"]"`, no},
		{"nothing says closed", `,"outcomePrices":"[\"0\",\"1\"]"`, nil},
		{"a price in the book", `,"outcomePrices":"[\"0.995\",\"0.005\"]"`, nil},
	} {
		c := read(t, text(t, "g.json", "["+gammaRow(tc.extra)+"]"))
		if len(c.markets) != 1 {
			t.Fatalf("%s: %+v", tc.name, c)
		}
		var got []data.Micro
		if r := c.markets[0].Resolution; r != nil {
			got = r.Payouts
		}
		if diff := cmp.Diff(tc.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tc.name, diff)
		}
		why := map[string]data.Untaken{"between": "undecided", "proposed": "oracle_not_done", "disputed": "oracle_not_done", "open": "said_open",
			"old and even": "undecided", "old and wiped": "undecided", "a time, and disputed": "oracle_not_done", "nothing says closed": "no_closing"}
		if got := c.markets[0].Untaken; got != why[tc.name] {
			t.Errorf("%s is not taken for %q, want %q", tc.name, got, why[tc.name])
		}
	}
}

func TestGammaFields(t *testing.T) {
	extra := `,"closed":true,"closedTime":"2025-11-01 06:28:08+00","updatedAt":"2026-01-25T00:21:37.311045Z","gameStartTime":"2026-06-11 22:00:00+00",` +
		`"volume":"12.3456789","liquidityNum":3,"bestBid":0.1,"negRisk":true,"groupItemThreshold":"4",` +
		`"events":[{"id":"578860","slug":"highest-temperature-in-milan-on-june-12","title":"T","seriesSlug":"milan-daily-weather"}]`
	c := read(t, text(t, "g.json", "["+gammaRow(extra)+"]"))
	yes, bid, volume, liquidity := true, data.Micro(100_000), data.Micro(12_345_679), 3*data.One
	want := data.Market{Condition: hash(0x22), GammaID: "12", Question: "Q?", GroupItemThreshold: "4", EventID: "578860",
		EventSlug: "highest-temperature-in-milan-on-june-12", EventTitle: "T", SeriesSlug: "milan-daily-weather",
		NegRisk: &yes, Category: "weather", CategorySource: "slug", Outcomes: []string{"Yes", "No"}, TokenIDs: []string{"7", maxToken},
		BestBid: &bid, Closed: &yes, Liquidity: &liquidity, ReportedVolume: &volume,
		ClosedAt:    time.Date(2025, 11, 1, 6, 28, 8, 0, time.UTC),
		GameStartAt: time.Date(2026, 6, 11, 22, 0, 0, 0, time.UTC),
		UpdatedAt:   time.Date(2026, 1, 25, 0, 21, 37, 311045000, time.UTC)}
	if diff := cmp.Diff([]data.Market{want}, c.markets); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestGammaPagesEventsAndTables(t *testing.T) {
	event := `{"id":"5","slug":"nba-a-b","title":"A v B","tags":[{"slug":"all"},{"slug":"crypto"},{"slug":"sports"}],"markets":[` +
		gammaRow("") + `,` + gammaRow(`,"question":"Second?"`) + `]}`
	for name, tc := range map[string]struct {
		content  string
		markets  int
		event    string
		category string
	}{
		"keyset page": {`{"markets":[` + gammaRow("") + `],"next_cursor":"x"}`, 1, "", ""},
		"events":      {"[" + event + "," + event + "]", 4, "5", "sports"},
		"event lines": {event + "\n" + event + "\n", 4, "5", "sports"},
		"event page":  {`{"events":[` + event + `]}`, 2, "5", "sports"},
		"one event":   {event, 2, "5", "sports"},
		"table": {"id,question,conditionId,outcomes,event_id,event_slug,category\n12,Q?," + hexC +
			",\"[\"\"Yes\"\", \"\"No\"\"]\",5,e,Pop-Culture \n", 1, "5", "culture"},
		"table with events": {"id,question,conditionId,outcomes,events\n12,Q?," + hexC +
			",\"['Yes', 'No']\",\"[{\"\"id\"\":\"\"5\"\",\"\"slug\"\":\"\"nba-x\"\"}]\"\n", 1, "5", "sports"},
	} {
		c := read(t, text(t, "f", tc.content))
		if len(c.markets) != tc.markets || len(c.rejects) != 0 {
			t.Errorf("%s: %d markets, %v", name, len(c.markets), c.rejects)
			continue
		}
		m := c.markets[0]
		if m.EventID != tc.event || m.Category != tc.category || len(m.Outcomes) != 2 {
			t.Errorf("%s: %+v", name, m)
		}
	}
}

func TestGammaRejects(t *testing.T) {
	draft := strings.Replace(gammaRow(""), hexC, "", 1)
	broken := strings.Replace(gammaRow(""), hexC, "0x12", 1)
	c := read(t, text(t, "g.json", "["+gammaRow("")+","+draft+","+broken+",17]"))
	if diff := cmp.Diff(map[string]int{"no_condition": 1, "bad_condition": 1, "bad_json": 1}, c.reasons()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestCLOBWinners tests winner flags of a closed market, and the flag for a payout of halves.
func TestCLOBWinners(t *testing.T) {
	row := func(closed, half, first, second string) string {
		return `{"condition_id":"` + hexC + `","question":"Q?","market_slug":"q","closed":` + closed + `,"is_50_50_outcome":` + half +
			`,"tokens":[{"token_id":"7","outcome":"A","price":1,"winner":` + first + `},{"token_id":"8","outcome":"B","price":0,"winner":` + second + `}],"tags":["All","NBA"]}`
	}
	for _, tc := range []struct {
		row  string
		want []data.Micro
	}{
		{row("true", "false", "false", "true"), []data.Micro{0, data.One}},
		{row("true", "true", "false", "false"), []data.Micro{500000, 500000}},
		{row("true", "false", "false", "false"), nil},
		{row("false", "false", "true", "false"), nil},
	} {
		for _, content := range []string{`{"data":[` + tc.row + `],"next_cursor":"LTE="}`, "[" + tc.row + "]"} {
			c := read(t, text(t, "clob.json", content))
			var got []data.Micro
			if r := c.markets[0].Resolution; r != nil {
				got = r.Payouts
			}
			if diff := cmp.Diff(tc.want, got); diff != "" || c.markets[0].Category != "sports" || c.markets[0].TokenIDs[1] != "8" {
				t.Errorf("%+v (-want +got):\n%s", c.markets[0], diff)
			}
		}
	}
}

func TestPolydataMarkets(t *testing.T) {
	c := read(t, text(t, "v1.csv", "createdAt,id,question,answer1,answer2,neg_risk,market_slug,token1,token2,condition_id,volume,ticker,closedTime\n"+
		"2024-01-04T17:33:51.332Z,253591,Q?,Yes,No,False,q,7,8,"+hexC+",1.5,nba-e,2024-11-06 15:17:41+00\n"))
	m := c.markets[0]
	if m.GammaID != "253591" || m.NegRisk != nil || m.Closed == nil || m.ClosedAt.IsZero() || m.EventSlug != "nba-e" || len(m.TokenIDs) != 2 {
		t.Errorf("version 1: %+v", m)
	}
	c = read(t, text(t, "v2.csv", "id,clobTokenIds,condition_id,question,market_slug,closed,is_50_50_outcome,tokens,tags\n"+
		hexC+",\"[\"\"7\"\",\"\"8\"\"]\","+hexC+",Q?,q,True,False,\"[{\"\"token_id\"\":\"\"7\"\",\"\"outcome\"\":\"\"Yes\"\",\"\"winner\"\":false},"+
		"{\"\"token_id\"\":\"\"8\"\",\"\"outcome\"\":\"\"No\"\",\"\"winner\"\":true}]\",\"[\"\"NBA\"\"]\"\n"))
	if m = c.markets[0]; m.Resolution == nil || m.Resolution.Payouts[1] != data.One || m.Category != "sports" || m.TokenIDs[0] != "7" {
		t.Errorf("version 2: %+v", m)
	}
	c = read(t, text(t, "missing.csv", "id,clobTokenIds,conditionId,question,slug,closed\n"+hexC+",\"[\"\"7\"\",\"\"8\"\"]\","+hexC+",Q?,q,false\n"))
	if m = c.markets[0]; m.GammaID != "" || m.Slug != "q" || len(m.TokenIDs) != 2 || m.Resolution != nil {
		t.Errorf("missing: %+v", m)
	}
}

// Lists of winners have the time of fetching, the scheduled end or the last trade of a market in
// the field for the time of its resolution.
func TestResolutionMaps(t *testing.T) {
	c := read(t, text(t, "map.json", `{"total_conditions":9,"resolutions":[`+
		`{"condition_id":"`+hexC+`","market_id":"5","payout_yes":null,"payout_no":1,"resolved_at":"2025-10-26T12:00:00.000Z"},`+
		`{"condition_id":"`+hexC+`","payout_yes":0.5,"payout_no":0.5,"resolved_at":null},`+
		`{"condition_id":"`+hexC+`","payout_yes":null,"payout_no":null,"resolved_at":null},`+
		`{"condition_id":"`+hexC+`","payout_yes":1,"payout_no":1}]}`))
	want := []data.Resolution{
		{Condition: hash(0x22), Payouts: []data.Micro{0, data.One}, Source: data.ResolvedByMap},
		{Condition: hash(0x22), Payouts: []data.Micro{500000, 500000}, Source: data.ResolvedByMap},
	}
	if diff := cmp.Diff(want, c.resolutions); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if len(c.markets) != 3 || c.reasons()["bad_payout"] != 1 {
		t.Errorf("%d markets, rejects %v", len(c.markets), c.rejects)
	}
}

// TestListsOfResolvedMarkets: a winner that agrees with prices and outcomes is used; one that does
// not is not, and the reason is reported.
func TestListsOfResolvedMarkets(t *testing.T) {
	for _, tc := range []struct {
		name, outcomes, prices, winner, closed string
		payouts                                []data.Micro
		untaken                                data.Untaken
	}{
		{"nothing says closed but the winner", "Yes|No", "0|1", "no", "", []data.Micro{0, data.One}, ""},
		{"open", "Yes|No", "0.4|0.6", "No", "False", nil, data.UntakenOpen},
		{"prices that name nobody", "Yes|No", "0.4|0.6", "No", "True", nil, data.UntakenUndecided},
		{"no prices", "Yes|No", "", "No", "True", nil, data.UntakenUndecided},
		{"another winner", "Yes|No", "1|0", "No", "True", nil, data.UntakenWinner},
		{"a winner that is no outcome", "Yes|No", "1|0", "Maybe", "True", nil, data.UntakenWinner},
		{"no winner", "Yes|No", "1|0", "", "True", []data.Micro{data.One, 0}, ""},
		{"neither winner nor closing", "Yes|No", "0.4|0.6", "", "", nil, ""},
	} {
		c := read(t, text(t, "r.csv", "condition_id,outcomes,final_prices,winner,closed\n"+hexC+","+tc.outcomes+","+tc.prices+","+tc.winner+","+tc.closed+"\n"))
		if len(c.markets) != 1 {
			t.Fatalf("%s: %s", tc.name, c.said())
		}
		var got []data.Micro
		if r := c.markets[0].Resolution; r != nil {
			got = r.Payouts
		}
		if diff := cmp.Diff(tc.payouts, got); diff != "" || c.markets[0].Untaken != tc.untaken {
			t.Errorf("%s: not taken for %q, want %q; payouts (-want +got):\n%s", tc.name, c.markets[0].Untaken, tc.untaken, diff)
		}
	}
}

// TestFinalPricesThatDoNotFit: prices of a market that looks decided are counted as not taken if
// there is not exactly one from 0 to 1 per outcome.
func TestFinalPricesThatDoNotFit(t *testing.T) {
	const own = `{"condition_id":"` + hexC + `","question":"Q?","outcomes":["A","B"],"token_ids":[],`
	gamma := func(prices, rest string) string { return gammaRow(`,"outcomePrices":"`+prices+`"`+rest) + "\n" }
	const closed, open = `,"closed":true`, `,"closed":false`
	for _, tc := range []struct {
		content string
		untaken data.Untaken
	}{
		{gamma("1|0|0", closed+`,"umaResolutionStatus":"resolved"`), data.UntakenMisfit},
		{gamma("1|0|0", `,"umaResolutionStatus":"resolved"`), data.UntakenMisfit},
		{gamma("1|0|0", closed), data.UntakenMisfit},
		{gamma("1|", closed), data.UntakenMisfit},
		{gamma("1.5|0", closed), data.UntakenMisfit},
		{gamma("-1|1", closed), data.UntakenMisfit},
		{gamma("1|0|0", ""), data.UntakenMisfit},
		{gamma("1|0|0", open), ""},
		{gamma("0.4|0.3|0.3", ""), ""},
		{gamma("|", closed), ""},
		{own + `"prices":["1","0","0"],"closed":true}` + "\n", data.UntakenMisfit},
		{own + `"prices":["1","0","0"]}` + "\n", data.UntakenMisfit},
		{own + `"prices":["0.4","0.3","0.3"]}` + "\n", ""},
		{"condition_id,outcomes,final_prices,winner,closed\n" + hexC + ",Yes|No,1|0|0,Yes,True\n", data.UntakenMisfit},
		{"id,condition_id,question,outcomes,outcome_prices,clob_token_ids,closed\n1," + hexC + ",Q?,Yes|No,1|0|0,,true\n", data.UntakenMisfit},
	} {
		c := read(t, text(t, "f", tc.content))
		if len(c.markets) != 1 || c.markets[0].Untaken != tc.untaken || c.markets[0].Resolution != nil || len(c.markets[0].Prices) > 0 {
			t.Errorf("%s: want %q\n%s%v", tc.content, tc.untaken, c.said(), c.reasons())
		}
	}
}

// TestMoreThanOneWinner: flags of two winners give no payouts, and the reason says so.
func TestMoreThanOneWinner(t *testing.T) {
	for rest, want := range map[string]data.Untaken{`,"closed":true`: data.UntakenWinners, "": data.UntakenWinners, `,"closed":false`: data.UntakenOpen,
		`,"closed":true,"is_50_50_outcome":true`: ""} {
		c := read(t, text(t, "clob.json", `{"data":[{"condition_id":"`+hexC+`","question":"Q?","tokens":[{"token_id":"7","outcome":"A","winner":true},`+
			`{"token_id":"8","outcome":"B","winner":true}]`+rest+`}]}`))
		if m := c.markets[0]; m.Untaken != want || (m.Resolution != nil) != (want == "") {
			t.Errorf("%s: not taken for %q, want %q", rest, m.Untaken, want)
		}
	}
	if !strings.Contains(data.UntakenWinners.Explain(), "more than one") || !strings.Contains(data.UntakenMisfit.Explain(), "each outcome") {
		t.Error("a reason has no sentence")
	}
}

// gammaV2 is a market of protocol V2.
func gammaV2(condition, positions, extra string) string {
	return `{"id":"13","version":"v2","question":"Q?","conditionId":"` + condition + `","outcomes":"[\"Yes\", \"No\"]","positionIds":` + positions + extra + `}`
}

func TestGammaOfProtocolV2(t *testing.T) {
	condition := data.Hash{0: 0x02, 1: 0xab, 29: 5}
	id := func(outcome byte) string {
		h := condition
		h[31] = outcome
		return new(big.Int).SetBytes(h[:]).String()
	}
	positions := `["` + id(0) + `","` + id(1) + `"]`
	full, short := condition.String(), condition.String()[:64]
	for name, tc := range map[string]struct {
		row     string
		payouts []data.Micro
		untaken data.Untaken
		reject  string
	}{
		"64 digits":         {row: gammaV2(full, positions, `,"closed":false,"resolutionStatus":"active"`)},
		"62 digits":         {row: gammaV2(short, positions, `,"closed":false,"resolutionStatus":"active"`)},
		"resolved":          {row: gammaV2(full, positions, `,"closed":true,"resolutionStatus":"resolved","outcomePrices":"[\"0\",\"1\"]"`), payouts: []data.Micro{0, data.One}},
		"not yet resolved":  {row: gammaV2(full, positions, `,"closed":true,"resolutionStatus":"active","outcomePrices":"[\"0\",\"1\"]"`), untaken: data.UntakenOracle},
		"status of the old": {row: gammaV2(full, positions, `,"closed":true,"resolutionStatus":"active","umaResolutionStatus":"resolved","outcomePrices":"[\"0\",\"1\"]"`), untaken: data.UntakenOracle},
		"both lists":        {row: gammaV2(full, positions, `,"clobTokenIds":"[\"7\",\"8\"]","closed":false`)},
		"strange token":     {row: gammaV2(full, `["7","8"]`, ""), reject: "bad_token"},
		"outcomes swapped":  {row: gammaV2(full, `["`+id(1)+`","`+id(0)+`"]`, ""), reject: "bad_token"},
		"strange condition": {row: gammaV2(hexC, positions, ""), reject: "bad_condition"},
		"strange version":   {row: strings.Replace(gammaV2(full, positions, ""), `"v2"`, `"v3"`, 1), reject: "bad_version"},
	} {
		c := read(t, text(t, "g.json", `{"markets":[`+tc.row+`],"next_cursor":""}`))
		if tc.reject != "" {
			if len(c.markets) != 0 || len(c.rejects) != 1 || c.rejects[0].Reason != tc.reject {
				t.Errorf("%s: %d markets, rejected %+v, want %s", name, len(c.markets), c.rejects, tc.reject)
			}
			continue
		}
		if len(c.markets) != 1 {
			t.Errorf("%s: %+v", name, c.rejects)
			continue
		}
		m := c.markets[0]
		if m.Condition != condition || !slices.Equal(m.TokenIDs, []string{id(0), id(1)}) || m.Untaken != tc.untaken {
			t.Errorf("%s: condition %s, tokens %q, untaken %q", name, m.Condition, m.TokenIDs, m.Untaken)
		}
		var got []data.Micro
		if m.Resolution != nil {
			got = m.Resolution.Payouts
		}
		if diff := cmp.Diff(tc.payouts, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
	// A record does not belong to a protocol because it has some of its fields.
	c := read(t, text(t, "g.json", "["+gammaRow(`,"version":"v1","positionIds":[`+`"9","10"]`)+"]"))
	if len(c.markets) != 1 || !slices.Equal(c.markets[0].TokenIDs, []string{"7", maxToken}) {
		t.Errorf("a record of V1 with positions: %+v", c.markets)
	}
}
