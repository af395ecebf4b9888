package feeds_test

import (
	"os"
	"reflect"
	"regexp"
	"strings"
	"testing"

	"pmx/data/feeds/polymarket"
)

// timeFields are the JSON names of the time fields of a record.
func timeFields(record any) (out []string) {
	form := regexp.MustCompile(`(?i)(date|time|_iso)$|At$|DateIso$`)
	for i := range reflect.TypeOf(record).NumField() {
		if name := reflect.TypeOf(record).Field(i).Tag.Get("json"); form.MatchString(name) {
			out = append(out, name)
		}
	}
	return out
}

// TestATimeThatCannotBeReadIsNotAbsent: in every feed of markets, a record with an invalid time is
// rejected; an empty time is unknown.
func TestATimeThatCannotBeReadIsNotAbsent(t *testing.T) {
	columns, err := os.ReadFile("canonical/README.md")
	if err != nil {
		t.Fatal(err)
	}
	_, list, _ := strings.Cut(string(columns), "\n`condition_id, gamma_id,")
	list, _, _ = strings.Cut(list, "`\n")
	canonical := regexp.MustCompile(`\w+_(at|date)\b`).FindAllString(list, -1)
	const thin = `"condition_id":"` + hexC + `","question":"Q?"`
	for _, tc := range []struct {
		name, content string // ",@" is replaced by the field
		fields        []string
		atLeast       int
	}{
		{"gamma", `[` + gammaRow(",@") + `]`, timeFields(polymarket.Gamma{}), 8},
		{"clob", `{"data":[{` + thin + `,"tokens":[],@}]}`, timeFields(polymarket.CLOB{}), 2},
		{"pmx-markets", `{` + thin + `,"outcomes":[],"token_ids":[],@}` + "\n", canonical, 6},
		{"pmx-resolutions", `{"condition_id":"` + hexC + `","payouts":["1","0"],"source":"chain",@}` + "\n", []string{"resolved_at", "version", "corrected_at"}, 3},
		{"jonbecker", `[{` + thin + `,"outcome_prices":"","clob_token_ids":"",@}]`, []string{"end_date", "created_at", "_fetched_at"}, 3},
		{"market-list", `[{"id":"` + hexC + `","question":"Q?","closed":true,"volume":"1",@}]`, []string{"endDate"}, 1},
	} {
		if len(tc.fields) < tc.atLeast {
			t.Errorf("%s: only the fields %q", tc.name, tc.fields)
		}
		for _, field := range tc.fields {
			for _, value := range []string{"", "null", "2026-01-02T03:04:05Z", "2026-01-02 03:04:05+00", "soon", "2026-13-01", "2026-01-02T03:04:05ZZ", "0x10", "-5"} {
				good := value == "" || value == "null" || strings.HasPrefix(value, "2026-01-02") && !strings.HasSuffix(value, "ZZ")
				c := read(t, text(t, "f", strings.Replace(tc.content, "@", `"`+field+`":"`+value+`"`, 1)))
				got := len(c.rejects) == 0 && len(c.markets)+len(c.resolutions) == 1
				if got != good || !good && (len(c.rejects) != 1 || c.rejects[0].Reason != "bad_time" || len(c.markets)+len(c.resolutions) > 0) {
					t.Errorf("%s: %s of %q: %d markets, %v", tc.name, field, value, len(c.markets), c.rejects)
				}
			}
		}
	}
	c := read(t, text(t, "v1.csv", "createdAt,id,question,answer1,answer2,token1,token2,condition_id,closedTime\n"+
		"soon,1,Q?,Yes,No,7,8,"+hexC+",\n,2,Q?,Yes,No,7,8,"+hexC+",later\n"))
	if c.reasons()["bad_time"] != 2 || len(c.markets) > 0 {
		t.Errorf("poly_data: %v", c.rejects)
	}
}

// TestAMarkOrAmountThatCannotBeReadIsNotAbsent is the same for flags and amounts.
func TestAMarkOrAmountThatCannotBeReadIsNotAbsent(t *testing.T) {
	const thin = `"condition_id":"` + hexC + `","question":"Q?"`
	flags, amounts := []string{"", "null", "True", "false", "1", "maybe", "2", "falsch"}, []string{"", "null", "0.5", "1e-05", "12", "a lot", "0,5", "1.2.3"}
	for _, tc := range []struct {
		name, content string
		flags         []string
		amounts       []string
	}{
		{"gamma", `[` + gammaRow(",@") + `]`, []string{"closed", "active", "acceptingOrders", "negRisk"},
			[]string{"bestBid", "bestAsk", "lastTradePrice", "liquidity", "liquidityNum", "volume", "volumeNum"}},
		{"clob", `{"data":[{` + thin + `,"tokens":[],@}]}`, []string{"closed", "active", "accepting_orders", "neg_risk", "is_50_50_outcome"}, nil},
		{"clob", `{"data":[{` + thin + `,"tokens":[{"token_id":"7","outcome":"Yes",@}]}]}`, []string{"winner"}, nil},
		{"pmx-markets", `{` + thin + `,"outcomes":[],"token_ids":[],@}` + "\n", []string{"closed", "active", "accepting_orders", "neg_risk"},
			[]string{"best_bid", "best_ask", "last_price", "liquidity", "reported_volume"}},
		{"fpmm", `{"market_key":"ohio","outcome_a":"Yes","outcome_b":"No","winner":"Yes",@}`, []string{"resolved"}, nil},
		{"actuals", `{"city":"nyc","day":"2026-01-02","metric":"tmax","kind":"station","source":"x","value":"20","unit":"C",@}`, []string{"provisional"}, nil},
	} {
		for reason, fields := range map[string][]string{"bad_flag": tc.flags, "bad_amount": tc.amounts} {
			values := flags
			if reason == "bad_amount" {
				values = amounts
			}
			for _, field := range fields {
				for i, value := range values {
					c := read(t, text(t, "f", strings.Replace(tc.content, "@", `"`+field+`":"`+value+`"`, 1)))
					got, rows := c.reasons(), len(c.markets)+len(c.actuals)
					if i < 5 && (len(got) > 0 || rows != 1) || i >= 5 && (got[reason] != 1 || rows > 0) {
						t.Errorf("%s: %s of %q: %d rows, %v", tc.name, field, value, rows, c.rejects)
					}
				}
			}
		}
	}
}
