package feeds_test

import (
	"fmt"
	"strings"
	"testing"

	"pmx/data"
	"pmx/data/reference"
)

// wholeFiles is a small file of every feed that reads its rows itself.
var wholeFiles = map[string]string{
	"lines.ndjson": tradeLine("7", "12.5") + "\n" + tradeLine("8", "3.25") + "\n",
	"events.ndjson": `{"id":"` + hexTx + `_0x1","maker":"` + hexA + `","taker":"` + hexB + `","makerAssetId":"0","takerAssetId":"77","makerAmountFilled":"400000",` +
		`"takerAmountFilled":"1000000","timestamp":"1700000000"}` + "\n",
	"histories.ndjson": `{"canonical_wallet":"` + hexA + `","trades":[{"timestamp":1700000000,"asset_id":"7","side":"BUY","size":1000000,"cost":400000}]}` + "\n",
	"ohio_senate.csv": "\"\",\"Timestamp\",\"Account\",\"Type\",\"Outcome\",\"Direction\",\"Amount\",\"Shares\",\"Price\"\n" +
		"1,2022-11-19 22:21:29," + hexA + ",Buy,Smith,x,0.25,183.64,NA\n2,2022-11-19 22:21:30," + hexB + ",Sell,Jones,x,10.25,83.64,0.12\n",
	"winners.csv": "market_key,outcome_a,outcome_b,resolved,winner,last_trade_utc\nohio,Democratic,Republican,True,Democratic,2022-11-09\n",
	"map.csv":     "condition_id,market_id,payout_yes,payout_no,resolved_at\n" + hexC + ",512,1,0,2025-01-02T03:04:05Z\n",
	"forecasts.csv": "city,target,metric,source,unit,issued_at,value\nnyc,2026-07-03,tmax,gfs,F,2026-07-02T13:00:00Z,87.25\n" +
		"nyc,2026-07-04,tmax,gfs,F,2026-07-02T13:00:00Z,88.75\n",
	"actuals.csv":      "city,day,metric,kind,source,station,unit,value\nnyc,2026-01-03,tmax,station,x,KLGA,F,37.25\n",
	"observations.csv": "city,station,source,unit,value,ts\nnyc,KLGA,x,F,37.25,2026-01-02T10:53:00Z\n",
	"normals.csv":      "city,metric,month_day,source,unit,value\nnyc,tmax,01-03,x,F,37.25\n",
	"iem.csv":          "station,day,max_temp_f,min_temp_f,climo_high_f,climo_low_f\nLGA,2026-01-02,50.25,40,39.5,28.75\n",
	"asos.csv":         "station,valid,tmpf\nLGA,2026-07-02 05:51,71.60\n",
	"x.dly":            "USW00014732202607TMAX" + strings.Repeat("  394  D", 31) + "\n",
	"ghcn.csv":         "USW00014732,20260104,TMAX,101,,,a,\nUSW00014732,20260105,TMIN,-17,,,a,2400\n",
	"hko.csv": "每日最高氣溫\n\"Daily Maximum Temperature (°C) at the Hong Kong Observatory\"\n年/Year,月/Month,日/Day,數值/Value,數據完整性/data Completeness\n" +
		"2025,3,12,19.3,C\n2025,3,13,20.4,#\n",
	"ncei.csv": "\"STATION\",\"DATE\",\"DLY-TMAX-NORMAL\",\"years_DLY-TMAX-NORMAL\",\"DLY-TMAX-STDDEV\",\"DLY-TMIN-NORMAL\"\n" +
		`"USW00014732","02-28","    43.3","30","     9.9","    27.1"` + "\n" + `"USW00014732","03-01","    43.9","28","    10.1","    28.2"` + "\n",
	"metar.ndjson": `{"icaoId":"KLGA","obsTime":1781052660,"temp":21.1,"rawOb":""}` + "\n" + `{"icaoId":"KLGA","obsTime":1781056260,"temp":22.2,"rawOb":""}` + "\n",
}

func tradeLine(token, size string) string {
	return `{"proxyWallet":"` + hexA + `","side":"BUY","asset":"` + token + `","conditionId":"` + hexC + `","size":` + size +
		`,"price":0.4,"timestamp":1700000000,"title":"Will it?","outcome":"No","outcomeIndex":1,"transactionHash":"` + hexTx + `"}`
}

// facts are what a file says, each as a text. Where a row stood does not count, nor
// what depends on the other rows: the roles of a transaction, the order of outcomes.
func (c *collect) facts() map[string]int {
	out := map[string]int{}
	add := func(kind string, v any) { out[fmt.Sprintf("%s %+v", kind, v)]++ }
	for _, f := range c.fills {
		f.Row, f.Role, f.Outcome = 0, 0, 0
		add("fill", f)
	}
	for _, m := range c.markets {
		if m.Slug == "ohio-senate" {
			m.Outcomes, m.TokenIDs = nil, nil
		}
		m.Resolution = nil
		add("market", m)
	}
	for _, r := range c.resolutions {
		add("resolution", r)
	}
	for _, t := range c.tokens {
		add("token", t)
	}
	for _, b := range c.blocks {
		add("block", b)
	}
	for _, f := range c.forecasts {
		add("forecast", f)
	}
	for _, a := range c.actuals {
		a.Provisional = nil // a pointer
		add("actual", a)
	}
	for _, o := range c.observations {
		o.Whole = nil
		add("observation", o)
	}
	for _, n := range c.normals {
		n.Deviation, n.P10, n.P90 = nil, nil, nil
		add("normal", n)
	}
	return out
}

// TestACutFileSaysNothingElse: of a file that was cut at any byte, a feed gives
// nothing that it does not give of the whole one, so that the whole one after it
// comes to the same as alone. Feeds that DuckDB reads have this test beside the import.
func TestACutFileSaysNothingElse(t *testing.T) {
	files := map[string]string{}
	for name, content := range conditionFiles {
		files["c-"+name] = strings.ReplaceAll(content, "%", hexC)
	}
	for name, content := range wholeFiles {
		files[name] = content
	}
	for name, content := range files {
		path := text(t, name, content)
		h, f := head(t, path)
		if f.Query != nil {
			continue
		}
		c, err := readAs(t, f, h, path)
		if err != nil || len(c.rejects) > 0 {
			t.Errorf("%s (%s): %v %v", name, f.Name, err, c.rejects)
		}
		whole := c.facts()
		if len(whole) == 0 {
			t.Errorf("%s (%s) says nothing", name, f.Name)
		}
		for cut := range len(content) {
			src := data.Source{Name: name, Format: h.Format, Cities: reference.Gazetteer()}
			part := &collect{}
			if f.Read(t.Context(), src, strings.NewReader(content[:cut]), part) != nil {
				continue // refused whole: nothing of it stays
			}
			for fact, n := range part.facts() {
				if n > whole[fact] {
					t.Errorf("%s (%s) cut at byte %d of %d, behind %q, says\n  %s", name, f.Name, cut, len(content),
						content[max(0, cut-30):cut], fact)
				}
			}
		}
	}
}
