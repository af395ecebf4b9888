package ingest_test

import (
	"strings"
	"testing"

	"pmx/data"
)

// TestAVersionThatCannotBeReadIsNoneOfZero: in every feed with versions of markets, a record with
// an invalid one is rejected; an empty one is unknown.
func TestAVersionThatCannotBeReadIsNoneOfZero(t *testing.T) {
	v := open(t)
	for name, record := range map[string]string{
		"gamma.json":     `[{"id":"12","question":"Q?","conditionId":"` + hashOne + `","outcomes":"[\"Yes\", \"No\"]","updatedAt":"%"}]`,
		"own.json":       `[{"condition_id":"` + hashOne + `","question":"Q?","outcomes":["Yes","No"],"token_ids":["7","8"],"updated_at":"%"}]`,
		"jonbecker.json": `[{"condition_id":"` + hashOne + `","question":"Q?","outcomes":"[\"Yes\", \"No\"]","outcome_prices":"[]","clob_token_ids":"[]","_fetched_at":"%"}]`,
	} {
		for version, want := range map[string]int64{"yesterday": 1, "1.7e9": 1, "": 0, "2026-01-25T00:21:37Z": 0} {
			v.empty()
			r, err := v.load(name, replaced(record, version))
			if err != nil || r.Rejected["bad_time"] != want || r.MarketsNew != 1-want || r.Read != 1 {
				t.Errorf("%s %q: err = %v, r = %+v", name, version, err, r)
			}
		}
	}
}

// TestFinalPricesAreTakenOrNamed: if prices and winners that decide a market are not used, the
// receipt has the reason, whatever the record says about its closing.
func TestFinalPricesAreTakenOrNamed(t *testing.T) {
	v := open(t)
	const own = "condition_id,question,outcomes,token_ids,prices,closed\n" + hashOne + `,Q?,"[""Yes"",""No""]","[""7"",""8""]","[1,0]",%` + "\n"
	const list = "condition_id,market_id,question,outcomes,final_prices,winner,clob_token_ids,closed\n" + hashOne + ",7,Q?,Yes|No,"
	for _, c := range []struct {
		name, content string
		why           data.Untaken // "": taken
	}{
		{"own.csv", replaced(own, ""), data.UntakenNoPayouts},
		{"own.csv", replaced(own, "true"), data.UntakenNoPayouts},
		{"own.csv", replaced(own, "false"), data.UntakenOpen},
		{"list.csv", list + "1.0|0.0,Yes,7|8,\n", ""},
		{"list.csv", list + "0.995|0.005,Yes,7|8,\n", ""},
		{"list.csv", list + "1.0|0.0,No,7|8,\n", data.UntakenWinner},
		{"list.csv", list + ",Yes,7|8,\n", data.UntakenUndecided},
		{"list.csv", list + "0.6|0.4,Yes,7|8,\n", data.UntakenUndecided},
		{"list.csv", list + "0.6|0.4,Yes,7|8,false\n", data.UntakenOpen},
		{"list.csv", list + "1.0|0.0,,7|8,\n", data.UntakenNoClosing},
	} {
		v.empty()
		r, err := v.load(c.name, c.content)
		taken := int64(0)
		if c.why == "" {
			taken = 1
		}
		if err != nil || r.Resolutions != taken || c.why != "" && r.FinalPricesNotTaken[c.why] != 1 || len(r.FinalPricesNotTaken) != int(1-taken) {
			t.Errorf("%s: err = %v, r = %+v", c.content, err, r)
		}
	}
}

func replaced(text, value string) string { return strings.Replace(text, "%", value, 1) }
