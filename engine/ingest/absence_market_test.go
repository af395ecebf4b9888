package ingest_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"pmx/data/testfiles"
)

const conditionC1 = "0x00000000000000000000000000000000000000000000000000000000000000c1"

// gamma is a file with one market of Gamma, updated on a day of January 2026.
func gamma(day, fields string) string {
	return "g.json\n" + `[{"conditionId":"` + conditionC1 + `","question":"Will it rain?","outcomes":"[\"Yes\",\"No\"]","updatedAt":"2026-01-` + day + `T00:00:00Z"` + fields + `}]`
}

// gammaCSV is the same as a CSV with the columns.
func gammaCSV(day, columns, cells string) string {
	return "g.csv\nconditionId,question,outcomes,updatedAt" + columns + "\n" + conditionC1 + `,Will it rain?,"[""Yes"",""No""]",2026-01-` + day + "T00:00:00Z" + cells + "\n"
}

func clob(fields string) string {
	return "c.json\n" + `[{"condition_id":"` + conditionC1 + `","tokens":[{"token_id":"71","outcome":"Yes"},{"token_id":"72","outcome":"No"}]` + fields + `}]`
}

const book = `,"bestBid":"0.10","bestAsk":"0.12","lastTradePrice":"0.11","liquidity":"50"`

func of(columns string) string { return "SELECT " + columns + " FROM markets" }

var quoteOf = of("best_bid, best_ask, last_price, liquidity")

// marketsLeft are the rows of markets: a quote is that of the newest record, and all other values
// are kept.
var marketsLeft = []left{
	{row: "Gamma's `bestBid`", gone: true, says: gamma("02", book), leave: gamma("03", `,"bestAsk":"0.001"`), query: quoteOf, want: "|1000|||\n"},
	{row: "Gamma's `bestBid`", gone: true, says: gamma("02", book), leave: gamma("03", `,"bestBid":null,"bestAsk":"","lastTradePrice":null`), query: quoteOf, want: "||||\n"},
	{row: "Gamma's `bestBid`", gone: true, says: gammaCSV("02", ",bestBid,bestAsk", ",0.10,0.12"), leave: gammaCSV("03", ",bestBid,bestAsk", ",,0.001"), query: quoteOf, want: "|1000|||\n"},
	{row: "Gamma's `spread`", says: gamma("02", book+`,"spread":"0.5"`), leave: gamma("02", book), query: quoteOf, want: "100000|120000|110000|50000000|\n"},
	{row: "all of a quote", says: gamma("02", book), leave: clob(""), query: quoteOf, want: "100000|120000|110000|50000000|\n"},
	{row: "all of a quote", says: gamma("02", book), leave: gammaCSV("03", ",volume", ",7"), query: quoteOf, want: "100000|120000|110000|50000000|\n"},
	{row: "all of a quote", says: gamma("02", book), leave: "p.csv\ncondition_id,question,outcomes,token_ids,updated_at\n" + conditionC1 + `,Will it rain?,"[""Yes"",""No""]",,2026-01-03` + "\n",
		query: quoteOf, want: "100000|120000|110000|50000000|\n"},
	{row: "all of a quote", says: gamma("02", book), leave: gammaCSV("03", ",bestBid,bestAsk", ",0.20,"), query: quoteOf, want: "200000||110000|50000000|\n"},
	{row: "all of a quote", says: gamma("02", book), leave: gammaCSV("03", ",liquidityNum", ",7"), query: quoteOf, want: "100000|120000|110000|7000000|\n"},
	{row: "all of a quote", says: gamma("02", book), leave: "p.csv\ncondition_id,question,outcomes,token_ids,best_bid,last_price,updated_at\n" + conditionC1 + `,Will it rain?,"[""Yes"",""No""]",,0.3,,2026-01-03` + "\n",
		query: quoteOf, want: "300000|||50000000|\n"},
	{row: "all of a quote", says: gamma("02", book), leave: "jb.json\n" + `[{"condition_id":"` + conditionC1 + `","question":"Will it rain?","outcomes":"[\"Yes\", \"No\"]","outcome_prices":"[]","clob_token_ids":"[]","liquidity":8,"_fetched_at":"2026-01-03T00:00:00"}]`,
		query: quoteOf, want: "100000|120000|110000|8000000|\n"},
	{row: "all of a quote", says: gamma("02", book), leave: "l.csv\nid,question,endDate,closed,volume,updatedAt\n" + conditionC1 + ",Will it rain?,,,7,2026-01-03T00:00:00Z\n",
		query: quoteOf, want: "100000|120000|110000|50000000|\n"},
	{row: "`closed`", says: gamma("02", `,"closed":true`), leave: gamma("03", ""), query: of("closed"), want: "true|\n"},
	{row: "`closed`", says: gamma("02", `,"closed":false`), leave: gamma("03", `,"closedTime":"2026-01-03T01:00:00Z"`), query: of("closed"), want: "true|\n"},
	{row: "`closedTime`", says: gamma("02", `,"closedTime":"2026-01-01T01:00:00Z"`), leave: gamma("03", `,"closed":true`), query: of("closed, closed_at"), want: "true|1767229200000000|\n"},
	{row: "`closedTime`", says: gamma("02", `,"closedTime":"2026-01-01T01:00:00Z"`), leave: gamma("03", `,"closed":false`), query: of("closed, closed_at"), want: "false||\n"},
	{row: "`active`", says: gamma("02", `,"active":true,"acceptingOrders":false,"negRisk":true`), leave: gamma("03", `,"negRisk":null`),
		query: of("active, accepting_orders, neg_risk"), want: "true|false|true|\n"},
	{row: "`active`", says: clob(`,"active":true,"accepting_orders":true,"neg_risk":true,"closed":false`), leave: clob(""),
		query: of("active, accepting_orders, neg_risk, closed"), want: "true|true|true|false|\n"},
	{row: "`umaResolutionStatus`", says: gamma("02", `,"closed":true,"outcomePrices":"[\"0.5\",\"0.5\"]","umaResolutionStatus":"resolved"`),
		leave: gamma("03", `,"closed":true,"outcomePrices":"[\"0.5\",\"0.5\"]"`), query: of("payouts, payout_source"), want: "[500000 500000]|2|\n"},
	{row: "the winner flags of the CLOB", says: "c.json\n" + `[{"condition_id":"` + conditionC1 + `","closed":true,"tokens":[{"token_id":"71","outcome":"Yes","winner":true},{"token_id":"72","outcome":"No","winner":false}]}]`,
		leave: clob(`,"closed":true`), query: of("payouts"), want: "[1000000 0]|\n"},
	{row: "the winner flags of the CLOB", says: gamma("02", `,"closed":true,"outcomePrices":"[\"1\",\"0\"]","umaResolutionStatus":"resolved"`), leave: gamma("03", `,"closed":true`),
		query: of("payouts, prices"), want: `[1000000 0]|[1,0]|` + "\n"},
	{row: "`volume`", says: gamma("02", `,"volume":"12.5"`), leave: gamma("03", ""), query: of("reported_volume"), want: "12500000|\n"},
	{row: "`tags`", says: gamma("02", `,"tags":[{"slug":"politics"}],"seriesSlug":"s","events":[{"id":"7","slug":"e","title":"E"}]`), leave: gamma("03", `,"tags":[],"events":[]`),
		query: of("tags, series_slug, event_id, event_slug, event_title"), want: `["politics"]|s|7|e|E|` + "\n"},
	{row: "the category", says: gamma("02", `,"slug":"bitcoin-above-100k","tags":[{"slug":"politics"}]`), leave: gamma("03", `,"slug":"bitcoin-above-100k"`),
		query: of("category, category_source, tags"), want: `politics|tag|["politics"]|` + "\n"},
	{row: "the category", says: gamma("02", `,"slug":"bitcoin-above-100k","tags":[{"slug":"politics"}]`), leave: gamma("02", `,"slug":"bitcoin-above-100k","category":"sports"`),
		query: of("category, category_source"), want: "politics|tag|\n"},
	{row: "titles, texts", says: gamma("02", `,"slug":"rain","description":"d","groupItemTitle":"t","groupItemThreshold":"3","endDate":"2026-02-01T00:00:00Z","clobTokenIds":"[\"71\",\"72\"]","resolutionSource":"r"`),
		leave: strings.Replace(gamma("03", `,"endDate":null,"groupItemTitle":"","clobTokenIds":"[]"`), `"outcomes":"[\"Yes\",\"No\"]"`, `"outcomes":null`, 1),
		query: of("slug, description, group_item_title, group_item_threshold, end_at, token_ids, outcomes, resolution_source"),
		want:  `rain|d|t|3|1769904000000000|["71","72"]|["Yes","No"]|r|` + "\n"},
	{row: "fees, tick and minimum sizes", says: gamma("02", `,"fee":"0.02","orderMinSize":5,"minimum_order_size":5`), leave: gamma("03", ""), query: of("question"), want: "Will it rain?|\n"},
}

// TestAFieldIsOfItsNewestRecord: three records, one of which omits a field, and a trade that names
// the market, in every order.
func TestAFieldIsOfItsNewestRecord(t *testing.T) {
	testfiles.InLong(t, "TestAnyOrderAndSplitOfRecordsGivesOneMarket imports records in two orders")
	tags := func(slug string) string { return `,"tags":[{"slug":"` + slug + `"}]` }
	trade := "t.json\n" + `[{"proxyWallet":"` + addressA + `","side":"BUY","asset":"71","conditionId":"` + conditionC1 + `","size":10,"price":0.5,"timestamp":1767000000,` +
		`"title":"Zebra?","slug":"zebra","outcomeIndex":0,"transactionHash":"` + hashOne + `"}]`
	v := open(t)
	for name, c := range map[string]struct {
		files       []string
		query, want string
	}{
		"tags": {[]string{gamma("03", tags("sports")), gamma("04", ""), gamma("05", tags("politics"))}, of("tags, category"), `["politics"]|politics|` + "\n"},
		"the newest without": {[]string{gamma("03", tags("sports")), gamma("04", tags("politics")), gamma("05", "")}, of("tags, updated_at, field_versions"),
			`["politics"]|1767571200000000|{"category":1767484800000000,"tags":1767484800000000}|` + "\n"},
		"a trade's title": {[]string{trade, clob(`,"question":"Ant?"`)}, of("question, slug, field_versions"), `Ant?|zebra|{"slug":-1}|` + "\n"},
		"closed, opened and closed": {[]string{gamma("03", `,"closedTime":"2026-01-01T01:00:00Z"`), gamma("04", `,"closed":false`), gamma("05", `,"closed":true`)},
			of("closed, closed_at, field_versions"), `true||{"closed_at":1767484800000000}|` + "\n"},
		"no version and two": {[]string{clob(`,"icon":"z"`), gamma("03", `,"icon":"a"`), gamma("04", "")}, of("icon, field_versions"),
			`a|{"icon":1767398400000000,"token_ids":0}|` + "\n"},
	} {
		t.Run(name, func(t *testing.T) {
			permutations(len(c.files), func(order []int) {
				v.clear()
				for _, nth := range append(order, order[0]) {
					file, content, _ := strings.Cut(c.files[nth], "\n")
					if _, err := v.load(file, content); err != nil {
						t.Fatal(err)
					}
				}
				if diff := cmp.Diff(c.want, v.lines(c.query)); diff != "" {
					t.Errorf("order %v (-want +got):\n%s", order, diff)
				}
			})
		})
	}
}
