package feeds_test

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"pmx/data"
	"pmx/data/feeds"
	"pmx/data/reference"
)

// broken is a file with one valid row of a feed, and changes of old to new that each make the row
// invalid for a reason.
type broken struct {
	feed    string
	format  data.Format
	good    string
	changes [][3]string // old, new, reason
}

var brokenRows = []broken{
	{"dome-orders", data.NDJSON, `{"token_id":"7","order_hash":"x","side":"BUY","condition_id":"` + hexC + `","shares":1000000,"price":0.5,"tx_hash":"` + hexTx +
		`","user":"` + hexA + `","timestamp":1700000000}`, [][3]string{
		{`"token_id":"7"`, `"token_id":"-7"`, "bad_token"}, {`"BUY"`, `"HOLD"`, "bad_side"}, {hexC, "0x12", "bad_condition"}, {`"shares":1000000`, `"shares":"many"`, "bad_amount"},
		{`0.5`, `"half"`, "bad_amount"}, {hexTx, "0x12", "bad_hash"}, {hexA, "somebody", "bad_address"}, {`1700000000`, `"soon"`, "bad_time"}}},
	{"wallet-histories", data.NDJSON, `{"canonical_wallet":"` + hexA + `","trades":[{"timestamp":1700000000,"asset_id":"7","side":"SELL","size":1000000.4,"cost":400000}]}`, [][3]string{
		{hexA, "somebody", "bad_address"}, {`1700000000`, `"soon"`, "bad_time"}, {`"7"`, `"seven"`, "bad_token"}, {`"SELL"`, `"GIVE"`, "bad_side"}, {`1000000.4`, `"many"`, "bad_amount"},
		{`"cost":400000`, `"cost":"much"`, "bad_amount"}, {`"cost":400000`, `"cost":1e300`, "bad_amount"}, {`[{`, `[17,{`, "bad_json"}}},
	{"resolution-map", data.NDJSON, `{"condition_id":"` + hexC + `","payout_yes":1,"payout_no":0}`, [][3]string{
		{hexC, "", "no_condition"}, {hexC, "0x12", "bad_condition"}, {`"payout_yes":1`, `"payout_yes":"most"`, "bad_payout"}, {`"payout_yes":1`, `"payout_yes":2`, "bad_payout"},
		{`"payout_yes":1,"payout_no":0`, `"payout_yes":2,"payout_no":-1`, "bad_payout"}}},
	{"resolved-markets", data.NDJSON, `{"condition_id":"` + hexC + `","outcomes":"Yes|No","final_prices":"1|0","winner":"Yes","closed":"True","clob_token_ids":"[\"7\",\"8\"]"}`, [][3]string{
		{hexC, "0x12", "bad_condition"}, {`\"7\"`, `\"x\"`, "bad_token"}, {`\"7\"`, `\"08\"`, "bad_token"}, {"Yes|No", "bad", "bad_outcome"}, {`"Yes|No"`, "17", "bad_outcome"},
		{"Yes|No", "Yes|No|Maybe", "bad_outcome"}, {"1|0", "1|x", "bad_amount"}, {`"1|0"`, "{}", "bad_json"}}},
	{"fpmm-resolutions", data.NDJSON, `{"market_key":"ohio","outcome_a":"Democratic","outcome_b":"Republican","resolved":"True","winner":"Democratic"}`, [][3]string{
		{`"ohio"`, `" "`, "bad_market"}, {`"Republican"`, `"Democrat"`, "bad_market"}, {`"winner":"Democratic"`, `"winner":"Green"`, "bad_payout"}}},
	{"fpmm-trades", data.CSV, "\"\",\"Timestamp\",\"Account\",\"Type\",\"Outcome\",\"Direction\",\"Amount\",\"Shares\",\"Price\"\n1,2022-11-19 22:21:29," + hexA + ",Buy,Smith,x,0.25,183.64,NA\n", [][3]string{
		{hexA, "0x12", "bad_address"}, {"2022-11-19 22:21:29", "soon", "bad_time"}, {"Buy", "Hold", "bad_side"}, {"Smith", "", "bad_token"}, {"0.25", "NA", "bad_amount"}, {"183.64", "x", "bad_amount"}}},
	{"polymarket-trades", data.NDJSON, `{"proxyWallet":"` + hexA + `","side":"BUY","asset":"7","conditionId":"` + hexC + `","size":1,"price":0.5,"timestamp":1700000000,"outcomeIndex":1,"transactionHash":"` + hexTx + `"}`, [][3]string{
		{hexA, "somebody", "bad_address"}, {"1700000000", `"soon"`, "bad_time"}, {`"7"`, `"x"`, "bad_token"}, {"BUY", "HOLD", "bad_side"}, {`"size":1`, `"size":"x"`, "bad_amount"}, {"0.5", `"x"`, "bad_amount"},
		{hexTx, "0x12", "bad_hash"}, {hexC, "0x12", "bad_condition"}, {`"outcomeIndex":1`, `"outcomeIndex":-4`, "bad_outcome"}}},
	{"subgraph-order-filled", data.NDJSON, `{"id":"` + hexTx + `_0x1","maker":"` + hexA + `","taker":"` + hexB + `","makerAssetId":"0","takerAssetId":"77","makerAmountFilled":"400000","takerAmountFilled":"1000000","fee":"1","timestamp":"1700000000"}`, [][3]string{
		{hexA, "somebody", "bad_address"}, {hexB, "somebody", "bad_address"}, {"1700000000", "soon", "bad_time"}, {hexTx, "0x12", "bad_hash"}, {`"0"`, `"1"`, "bad_side"}, {`"77"`, `"x"`, "bad_token"},
		{`"400000"`, `"0.4"`, "bad_amount"}, {`"1000000"`, `"-1"`, "bad_amount"}, {`"fee":"1"`, `"fee":"x"`, "bad_amount"}}},
	{"subgraph-positions", data.NDJSON, `{"id":"7","condition":"` + hexC + `","outcomeIndex":"1"}`, [][3]string{
		{hexC, "0x12", "bad_condition"}, {`"7"`, `"x"`, "bad_token"}, {`"1"`, `""`, "bad_outcome"}, {`"1"`, `"128"`, "bad_outcome"}}},
	{"clob-markets", data.NDJSON, `{"condition_id":"` + hexC + `","question":"Q?","tokens":[{"token_id":"7","outcome":"Yes"},{"token_id":"8","outcome":"No"}]}`, [][3]string{
		{hexC, "", "no_condition"}, {hexC, "0x12", "bad_condition"}, {`"7"`, `"x"`, "bad_token"}, {`"7"`, `"8"`, "bad_token"}, {`"Yes"`, `"Yes","price":"x"`, "bad_amount"},
		{`[{"token_id":"7"`, `[7,{"token_id":"7"`, "bad_token"}, {`"tokens":[`, `"tokens":"some","left":[`, "bad_token"}, {`"tokens":[`, `"tokens":7,"left":[`, "bad_token"},
		{`"tokens":[`, `"clobTokenIds":["7","07"],"left":[`, "bad_token"}}},
	{"polydata-markets", data.CSV, "id,question,answer1,answer2,token1,token2,condition_id\n1,Q?,Yes,No,7,8," + hexC + "\n", [][3]string{
		{hexC, "0x12", "bad_condition"}, {",8,", ",x,", "bad_token"}, {",8,", ",7,", "bad_token"}}},
	{"polydata-markets-v2", data.CSV, "id,clobTokenIds,condition_id,question,market_slug,tokens\n1,\"[\"\"7\"\",\"\"8\"\"]\"," + hexC + ",Q?,q,\"[{\"\"token_id\"\":\"\"7\"\"},{\"\"token_id\"\":\"\"8\"\"}]\"\n", [][3]string{
		{`{""token_id"":""8""}]`, `{""token_id""`, "bad_token"}, {`{""token_id"":""8""}`, `{""token_id"":""7""}`, "bad_token"}, {`""8""]`, `""8'`, "bad_json"}}},
	{"polydata-missing-markets", data.CSV, "id,clobTokenIds,conditionId,question\n1,\"[\"\"7\"\",\"\"8\"\"]\"," + hexC + ",Q?\n", [][3]string{
		{`""8""`, `""7""`, "bad_token"}, {`""8""`, `""x""`, "bad_token"}, {`""8""]`, `""8`, "bad_json"}}},
	{"jonbecker-markets", data.NDJSON, `{"condition_id":"` + hexC + `","question":"Q?","outcomes":"[\"Yes\",\"No\"]","outcome_prices":"[\"0.4\",\"0.6\"]","clob_token_ids":"['7','8']"}`, [][3]string{
		{`[\"Yes\",\"No\"]`, "bad", "bad_outcome"}, {`[\"Yes\",\"No\"]`, `[\"Yes\",\"N`, "bad_outcome"}, {`"[\"Yes\",\"No\"]"`, `{"a":1}`, "bad_outcome"}, {`'8'`, `'7'`, "bad_token"}, {`\"0.4\"`, `\"?\"`, "bad_amount"},
		{`'8'`, `'8`, "bad_json"}, {`"['7','8']"`, "true", "bad_json"}}},
	{"gamma-markets", data.NDJSON, gammaRow(`,"updatedAt":"2026-01-25T00:21:37Z","outcomePrices":"[\"1\",\"0\"]"`), [][3]string{
		{`[\"Yes\", \"No\"]`, "bad", "bad_outcome"}, {`\"No\"]`, `\"N`, "bad_outcome"}, {`\"No\"]`, `\"No\",\"Else\"]`, "bad_outcome"}, {`\"7\"`, `\"` + maxToken + `\"`, "bad_token"},
		{`\"1\"`, `\"x\"`, "bad_amount"},
		{hexC, "", "no_condition"}, {hexC, "0x12", "bad_condition"}, {`\"7\"`, `\"x\"`, "bad_token"}, {"2026-01-25T00:21:37Z", "some day", "bad_time"}}},
	{"gamma-events", data.NDJSON, `{"slug":"s","title":"t","markets":[` + gammaRow("") + `]}`, [][3]string{
		{`[{`, `[17,{`, "bad_json"}, {hexC, "", "no_condition"}}},
	{"pmx-markets", data.NDJSON, `{"condition_id":"` + hexC + `","question":"Q?","outcomes":["A","B"],"token_ids":["7","8"],"mapped_tokens":["1:9"],"updated_at":"2026-01-25T00:21:37Z"}`, [][3]string{
		{hexC, "0x", "bad_condition"}, {`"7"`, `"x"`, "bad_token"}, {`"7"`, `"8"`, "bad_token"}, {`["A","B"]`, `"bad"`, "bad_outcome"}, {`["A","B"]`, "17", "bad_outcome"}, {`"updated_at"`, `"prices":["x","0"],"updated_at"`, "bad_amount"},
		{`["A","B"],"token_ids":["7","8"],"mapped_tokens":["1:9"]`, `["A","B","C"],"token_ids":["7","8"]`, "bad_outcome"}, {`["1:9"]`, `["1:9","0:09"]`, "bad_token"}, {"1:9", "1:x", "bad_token"}, {"1:9", "-1:9", "bad_token"}, {"2026-01-25T00:21:37Z", "some day", "bad_time"}}},
	{"pmx-resolutions", data.NDJSON, `{"condition_id":"` + hexC + `","payouts":["1","0"],"resolved_at":"2026-01-02","resolved_at_source":"oracle","source":"api","version":"2026-01-03","corrected_at":"2026-01-04"}`, [][3]string{
		{hexC, "0x12", "bad_condition"}, {`["1","0"]`, `["1"]`, "bad_payout"}, {`["1","0"]`, `["2","-1"]`, "bad_payout"}, {`["1","0"]`, `["1","1"]`, "bad_payout"}, {`"api"`, `"gossip"`, "bad_source"},
		{`"oracle"`, `"gossip"`, "bad_source"}, {"2026-01-02", "some day", "bad_time"}, {"2026-01-03", "some day", "bad_time"}, {"2026-01-04", "some day", "bad_time"}}},
	{"polymarket-resolutions", data.NDJSON, `{"condition_id":"` + hexC + `","status":"resolved","was_disputed":false,"payouts":[1000000,0],"resolved_at":"2026-01-02","last_update_timestamp":"1767312000"}`, [][3]string{
		{hexC, "0x12", "bad_condition"}, {hexC, "", "no_condition"}, {"1000000", "1", "bad_payout"}, {"[1000000,0]", "[1000001,-1]", "bad_payout"}, {"[1000000,0]", "[1000000]", "bad_payout"},
		{`"payouts":[1000000,0],`, "", "bad_payout"}, {"2026-01-02", "some day", "bad_time"}, {"1767312000", "some day", "bad_time"}}},
	{"pmx-forecasts", data.NDJSON, `{"city":"nyc","target":"2026-07-03","metric":"tmax","source":"gfs","unit":"F","issued_at":"2026-07-02T13:00:00Z","run_at":"2026-07-02T06:00:00Z","value":"87","members":["86","88"],"shift":"3600"}`, [][3]string{
		{`"gfs"`, `" "`, "bad_source"}, {`"F"`, `"K"`, "bad_unit"}, {`"87"`, `"hot"`, "bad_temperature"}, {`"87"`, `""`, "bad_temperature"}, {"tmax", "tmean", "bad_metric"}, {"2026-07-03", "2026-02-30", "bad_date"},
		{"2026-07-02T13:00:00Z", "soon", "bad_time"}, {"2026-07-02T06:00:00Z", "soon", "bad_time"}, {`"86"`, `"hot"`, "bad_temperature"}, {`"3600"`, `"86401"`, "bad_number"}, {`"3600"`, `"-"`, "bad_number"},
		{`"value":"87"`, `"value":"","withdrawn":true`, "bad_temperature"}}},
	{"pmx-actuals", data.NDJSON, `{"city":"nyc","day":"2026-01-03","metric":"tmax","kind":"station","source":"x","station":"KLGA","unit":"F","value":"37.25","seen_at":"2026-01-05T00:00:00Z","shift":"-3600"}`, [][3]string{
		{"tmax", "tmean", "bad_metric"}, {"2026-01-03", "soon", "bad_date"}, {`"station"`, `"rumour"`, "bad_kind"}, {"2026-01-05T00:00:00Z", "soon", "bad_time"}, {`"-3600"`, `"an hour"`, "bad_number"},
		{`"37.25"`, `"37.25","withdrawn":true`, "bad_temperature"}}},
	{"pmx-observations", data.NDJSON, `{"city":"nyc","station":"KLGA","source":"x","unit":"C","value":"3","ts":"2026-01-02T10:53:00Z","report":"special","whole":"3","correction":"1","seen_at":"2026-01-02T11:00:00Z"}`, [][3]string{
		{`"KLGA"`, `""`, "unknown_station"}, {"special", "odd", "bad_kind"}, {`"1"`, `"100"`, "bad_number"}, {"2026-01-02T10:53:00Z", "", "bad_time"}, {"2026-01-02T10:53:00Z", "soon", "bad_time"},
		{"2026-01-02T11:00:00Z", "soon", "bad_time"}, {`"whole":"3"`, `"whole":"x"`, "bad_temperature"}}},
	{"pmx-normals", data.NDJSON, `{"city":"nyc","metric":"tmax","month_day":"02-29","source":"x","unit":"F","value":"43.3","deviation":"9.9","p10":"31","p90":"57","years":"30"}`, [][3]string{
		{`"x"`, `"derived:x"`, "bad_source"}, {"tmax", "tmean", "bad_metric"}, {"02-29", "02-30", "bad_date"}, {"02-29", "0229", "bad_date"}, {`"9.9"`, `"x"`, "bad_temperature"}, {`"31"`, `"x"`, "bad_temperature"},
		{`"57"`, `"x"`, "bad_temperature"}, {`"30"`, `"x"`, "bad_number"}, {`"value":"43.3"`, `"value":"","withdrawn":true`, "bad_temperature"}}},
	{"ncei-normals", data.CSV, "STATION,DATE,DLY-TMAX-NORMAL,years_DLY-TMAX-NORMAL,DLY-TMAX-STDDEV\nUSW00014732,02-28,43.3,30,9.9\n", [][3]string{
		{"USW00014732", "USW00000000", "unknown_station"}, {"02-28", "02-30", "bad_date"}, {"43.3", "hot", "bad_temperature"}, {",9.9", ",hot", "bad_temperature"}, {",30,", ",some,", "bad_number"}}},
	{"ghcn-daily", data.CSV, "USW00014732,20260104,TMAX,101,,,a,2400\n", [][3]string{
		{"USW00014732", "USW00000000", "unknown_station"}, {"20260104", "20260230", "bad_date"}, {"101", "hot", "bad_temperature"}, {",101,,,a,2400", "", "bad_row"}, {"TMAX,101", "TMAX,99999", "bad_temperature"}}},
	{"iem-daily", data.CSV, "station,day,max_temp_f,climo_high_f\nLGA,2026-01-02,50.25,39.5\n", [][3]string{
		{"LGA", "XYZ", "unknown_station"}, {"2026-01-02", "2026-02-30", "bad_date"}, {"50.25", "hot", "bad_temperature"}, {"39.5", "hot", "bad_temperature"}}},
	{"iem-asos", data.CSV, "station,valid,tmpf\nLGA,2026-07-02 05:51,71.60\n", [][3]string{
		{"LGA", "XYZ", "unknown_station"}, {"2026-07-02 05:51", "soon", "bad_time"}, {"71.60", "hot", "bad_temperature"}}},
	{"hko-daily", data.CSV, "Daily Maximum Temperature at the Hong Kong Observatory\n年/Year,月/Month,日/Day,數值/Value,數據完整性/data Completeness\n2025,3,12,19.3,C\n", [][3]string{
		{"2025,3,12", "2025,3,32", "bad_date"}, {"19.3", "hot", "bad_temperature"}, {",19.3,C", "", "bad_row"}}},
	{"metar", data.NDJSON, `{"icaoId":"KLGA","obsTime":1781052660,"temp":21.1,"rawOb":"","receiptTime":"2026-06-10T00:54:16.580Z"}`, [][3]string{
		{"KLGA", "KXXX", "unknown_station"}, {"1781052660", `"soon"`, "bad_time"}, {"21.1", `"hot"`, "bad_temperature"}}},
	{"nws-gridpoints", data.NDJSON, `{` + nwsCell + `,"properties":{"updateTime":"2026-07-02T13:00:00Z","maxTemperature":{"uom":"wmoUnit:degC","values":[{"validTime":"2026-07-04T12:00:00+00:00/PT13H","value":26}]}}}`, [][3]string{
		{"-73.87", "0", "far_from_station"}, {"2026-07-02T13:00:00Z", "soon", "bad_time"}, {"degC", "K", "bad_unit"}, {"2026-07-04T12:00:00+00:00/PT13H", "soon", "bad_time"}, {"/PT13H", "", "bad_time"}, {"/PT13H", "/P1M", "bad_time"}}},
	{"nws-forecast", data.NDJSON, `{` + nwsCell + `,"properties":{"updateTime":"2026-07-02T13:00:00Z","periods":[{"startTime":"2026-07-03T06:00:00-04:00","endTime":"2026-07-03T18:00:00-04:00","isDaytime":true,"temperature":99,"temperatureUnit":"F"}]}}`, [][3]string{
		{"-73.87", "0", "far_from_station"}, {"2026-07-02T13:00:00Z", "soon", "bad_time"}, {`"F"`, `"K"`, "bad_unit"}, {"2026-07-03T06:00:00-04:00", "soon", "bad_time"}, {"2026-07-03T18:00:00-04:00", "soon", "bad_time"},
		{"99", `"hot"`, "bad_temperature"}}},
	{"nws-observations", data.NDJSON, `{"properties":{"station":"https://api.weather.gov/stations/KMIA","timestamp":"2026-07-02T10:53:00Z","textDescription":"Clear","temperature":{"value":25.6,"unitCode":"wmoUnit:degC"}}}`, [][3]string{
		{"KMIA", "KXXX", "unknown_station"}, {"2026-07-02T10:53:00Z", "soon", "bad_time"}, {"degC", "K", "bad_unit"}, {"25.6", `"hot"`, "bad_temperature"}}},
	{"openmeteo-forecast", data.NDJSON, `{` + nycAt + `,"current":{"time":"2026-07-02T09:00"},"daily_units":{"temperature_2m_max":"°F"},"daily":{"time":["2026-07-03"],"temperature_2m_max":[99.3]}}`, [][3]string{
		{"2026-07-02T09:00", "soon", "bad_time"}, {`"°F"`, `"K"`, "bad_unit"}, {"[99.3]", `["hot"]`, "bad_temperature"}, {`"2026-07-03"`, `"2026-02-30"`, "bad_date"}, {`"latitude":40.76809,`, "", "unknown_city"},
		{`"latitude":40.76809`, `"latitude":10`, "far_from_station"}, {`{"latitude"`, `{"error":true,"latitude"`, "source_error"}}},
}

// TestEveryBadFieldCostsItsRow: a row with an invalid field is rejected with a reason, and nothing
// of it is passed on.
func TestEveryBadFieldCostsItsRow(t *testing.T) {
	for _, b := range brokenRows {
		good := b.read(t, b.good)
		if len(good.rejects) != 0 || len(good.facts()) == 0 {
			t.Errorf("%s: the valid row gives %s", b.feed, good.said())
		}
		for _, c := range b.changes {
			text := strings.Replace(b.good, c[0], c[1], 1)
			if text == b.good {
				t.Errorf("%s: there is no %s", b.feed, c[0])
			}
			got := b.read(t, text)
			if diff := cmp.Diff(map[string]int{c[2]: 1}, got.reasons()); diff != "" {
				t.Errorf("%s with %s instead of %s: reasons (-want +got):\n%s", b.feed, c[1], c[0], diff)
			}
			if given := got.facts(); len(given) > 0 && c[2] != "bad_json" {
				t.Errorf("%s with %s instead of %s still gives %v", b.feed, c[1], c[0], given)
			}
		}
	}
}

func (b broken) read(t *testing.T, text string) *collect {
	t.Helper()
	f, err := feeds.ByName(b.feed)
	if err != nil {
		t.Fatal(err)
	}
	c := &collect{}
	src := data.Source{Name: "x", Format: b.format, Cities: reference.Gazetteer()}
	if err := f.Read(context.Background(), src, strings.NewReader(text), c); err != nil {
		t.Errorf("%s of %s: %v", b.feed, text, err)
	}
	return c
}

// TestARowOfAnotherKindIsRejected: all feeds that read JSON reject a number, a text or a list in
// the place of a record.
func TestARowOfAnotherKindIsRejected(t *testing.T) {
	for _, f := range feeds.All() {
		if f.Read == nil || !slices.Contains(f.Formats, data.NDJSON) {
			continue
		}
		b := broken{feed: f.Name, format: data.NDJSON}
		for _, text := range []string{"17\n", "\"x\"\n", "[1]\n"} {
			c := b.read(t, text)
			if diff := cmp.Diff(map[string]int{"bad_json": 1}, c.reasons()); diff != "" || len(c.facts()) > 0 {
				t.Errorf("%s of %s: %s", f.Name, text, c.said())
			}
		}
	}
}
