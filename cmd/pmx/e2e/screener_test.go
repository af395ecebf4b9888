package e2e_test

import (
	"fmt"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"pmx/data"
	"pmx/http/wire"
)

// screenerSQL computes the screener's figures of every market from facts and descriptions alone: one
// statement, full scans, written independently of pmx.
const screenerSQL = `WITH newest AS (SELECT max(ts) AS t FROM fills),
f AS (SELECT t.market, t.outcome, f.token, f.wallet, f.role = 1 AS maker, f.side, f.shares, f.usd, f.ts, f.tx, f.log_index, newest.t - f.ts AS age
  FROM fills AS f JOIN tokens AS t USING (token), newest WHERE t.market IS NOT NULL),
any_taker AS (SELECT market, bool_or(NOT maker) AS yes FROM f GROUP BY market),
sums AS (SELECT market, sum(usd) AS volume, count(*) AS trades,
    coalesce(sum(usd) FILTER (age < 86400e6), 0) AS d, coalesce(sum(usd) FILTER (age < 7 * 86400e6), 0) AS w, coalesce(sum(usd) FILTER (age < 30 * 86400e6), 0) AS m
  FROM f JOIN any_taker USING (market) WHERE maker <> yes GROUP BY market),
heads AS (SELECT market, count(DISTINCT wallet) AS traders, count(DISTINCT wallet) FILTER (age < 86400e6) AS traders_24h, max(ts) AS last FROM f GROUP BY market),
orders AS (SELECT market, if((outcome = 0) = (side = 0), 1, -1) * sum(usd) AS towards FROM f WHERE NOT maker AND age < 86400e6
  GROUP BY market, outcome, wallet, token, side, tx, if(tx IS NULL, ts, 0) HAVING sum(usd) >= 10000e6),
flow AS (SELECT market, sum(towards) AS flow FROM orders GROUP BY market),
said AS (SELECT market, arg_max(if(outcome = 0, p, 1000000 - p), (ts, coalesce(log_index, -1), -outcome, p)) AS price
  FROM (SELECT *, floor((usd * 2000000.0 + shares) / (2.0 * shares))::BIGINT AS p FROM f WHERE shares > 0) GROUP BY market),
screened AS (SELECT '0x' || lower(hex(m.condition)) AS id, m.question, m.slug, m.event_id, m.event_slug, m.event_title, m.category,
    coalesce(from_json(m.tags, '["VARCHAR"]'), []) AS tags, m.neg_risk,
    CASE WHEN m.payouts IS NOT NULL THEN 'resolved' WHEN m.closed THEN 'closed' ELSE 'open' END AS status,
    coalesce(s.volume, 0)::BIGINT AS volume, coalesce(s.d, 0)::BIGINT AS volume_24h, coalesce(s.w, 0)::BIGINT AS volume_7d, coalesce(s.m, 0)::BIGINT AS volume_30d,
    coalesce(s.trades, 0) AS trades, coalesce(h.traders, 0) AS traders, coalesce(h.traders_24h, 0) AS traders_24h, coalesce(flow, 0)::BIGINT AS flow,
    coalesce(m.payouts[1], said.price) AS price, m.liquidity, m.best_ask - m.best_bid AS spread, m.created_at, m.end_at, m.resolved_at, h.last
  FROM markets AS m LEFT JOIN sums AS s USING (market) LEFT JOIN heads AS h USING (market) LEFT JOIN said USING (market) LEFT JOIN flow USING (market))
`

const screenerColumns = `concat_ws(' ', id, status, volume, volume_24h, volume_7d, volume_30d, trades, traders, traders_24h, flow,
  coalesce(price::VARCHAR, '-'), coalesce(liquidity::VARCHAR, '-'), coalesce(spread::VARCHAR, '-'),
  coalesce(created_at // 1000000, 0), coalesce(end_at // 1000000, 0), coalesce(resolved_at // 1000000, 0), coalesce(last // 1000000, 0)) FROM screened`

// screenerRow formats a row of the API like screenerColumns.
func screenerRow(r *wire.ScreenerRow) string {
	parts := []any{r.ConditionID, r.Status, int64(r.Volume), int64(r.Volume24h), int64(r.Volume7d), int64(r.Volume30d), r.Trades, r.Traders, r.Traders24h, int64(r.WhaleFlow24h),
		known(r.Price), known(r.Liquidity), known(r.Spread), second(r.CreatedAt), second(r.EndDate), second(r.ResolvedAt), second(r.LastTradeAt)}
	return strings.TrimSuffix(fmt.Sprintln(parts...), "\n")
}

// screenerCases are filters and orders, as a request and as SQL.
var screenerCases = []struct{ query, where, order string }{
	{"", "true", "volume_24h DESC"},
	{"sort=volume&order=asc", "true", "volume"},
	{"sort=liquidity&status=open", "status = 'open'", "liquidity DESC NULLS LAST"},
	{"sort=spread&order=asc&category=sports&category=crypto", "category IN ('sports', 'crypto')", "spread NULLS LAST"},
	{"sort=price&exclude_category=weather&min_trades=1", "coalesce(category, '') <> 'weather' AND trades >= 1", "price DESC NULLS LAST"},
	{"sort=price&order=asc&max_price=0.4&min_price=0.05", "price BETWEEN 50000 AND 400000", "price"},
	{"tag=bitcoin&tag=soccer&exclude_tag=weekly&sort=traders", "(list_contains(tags, 'bitcoin') OR list_contains(tags, 'soccer')) AND NOT list_contains(tags, 'weekly')", "traders DESC"},
	{"min_volume_24h=0.01&sort=volume_24h&order=asc", "volume_24h >= 10000", "volume_24h"},
	{"min_volume_7d=10&max_volume_7d=1000&sort=volume_7d", "volume_7d BETWEEN 10000000 AND 1000000000", "volume_7d DESC"},
	{"max_volume_30d=0&sort=trades", "volume_30d = 0", "trades DESC"},
	{"min_traders_24h=3&sort=traders_24h", "traders_24h >= 3", "traders_24h DESC"},
	{"max_spread=0.01&min_liquidity=100&sort=end_date", "spread <= 10000 AND liquidity >= 100000000", "end_at DESC NULLS LAST"},
	{"ends_after=2026-11-19&ends_before=2026-11-21T12:00:00Z&sort=end_date&order=asc", "end_at >= epoch_us(TIMESTAMP '2026-11-19') AND end_at < epoch_us(TIMESTAMP '2026-11-21 12:00:00')", "end_at"},
	{"created_before=2026-10-01&sort=created_at", "created_at < epoch_us(TIMESTAMP '2026-10-01')", "created_at DESC"},
	{"neg_risk=true&has_resolution=false&sort=created_at&order=asc", "neg_risk AND status <> 'resolved'", "created_at NULLS LAST"},
	{"has_resolution=true&sort=resolved_at&status=resolved&status=open", "status = 'resolved'", "resolved_at DESC NULLS LAST"},
	{"sort=last_trade_at&max_traders=2", "traders <= 2", "last DESC NULLS LAST"},
	{"sort=whale_flow_24h&min_whale_flow_24h=-100000", "flow >= -100000000000", "flow DESC"},
	{"sort=whale_flow_24h&order=asc&min_whale_flow_24h=0.01", "flow > 0", "flow"},
	{"q=ethereum+nov", "regexp_matches(texts, '\\bethereum') AND regexp_matches(texts, '\\bnov')", "volume_24h DESC"},
	{"q=tokyo&status=open", "regexp_matches(texts, '\\btokyo') AND status = 'open'", "volume_24h DESC"},
}

// TestScreenerGivesWhatPlainSQLGives compares every row of every case, and the summary of its
// filters, with statements over the facts.
func TestScreenerGivesWhatPlainSQLGives(t *testing.T) {
	v := readSample(t)
	events := v.table(`SELECT event_slug FROM markets GROUP BY 1 ORDER BY count(*) DESC, 1 LIMIT 2`)
	cases := slices.Clone(screenerCases)
	for _, e := range events {
		cases = append(cases, struct{ query, where, order string }{"event_id=" + url.QueryEscape(e), "event_slug = '" + e + "'", "volume_24h DESC"})
	}
	rows := 0
	for _, c := range some(cases, 5) {
		where := strings.ReplaceAll(c.where, "texts", "lower(concat_ws(' ', question, slug, event_title, event_slug))")
		want := v.table(screenerSQL + "SELECT " + screenerColumns + " WHERE " + where + " ORDER BY " + c.order + ", volume DESC, id")
		var got []string
		for cursor := ""; ; {
			p := reply[wire.Page[wire.ScreenerRow]](v, "/screener?limit=200&"+c.query+cursor)
			for i := range p.Data {
				got = append(got, screenerRow(&p.Data[i]))
			}
			if p.NextCursor == nil {
				break
			}
			cursor = "&cursor=" + *p.NextCursor
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s: %d rows, %d in the facts\n%s", c.query, len(got), len(want), firstDifference(got, want))
		}
		if len(want) == 0 {
			t.Errorf("%s tests nothing: no market of the sample venue matches", c.query)
		}
		rows += len(got)
		checkScreenerSummary(v, c.query, where)
	}
	t.Logf("%d rows of %d requests", rows, len(cases))
}

func firstDifference(got, want []string) string {
	for i := range max(len(got), len(want)) {
		g, w := "nothing", "nothing"
		if i < len(got) {
			g = got[i]
		}
		if i < len(want) {
			w = want[i]
		}
		if g != w {
			return fmt.Sprintf("row %d\ngot   %s\nfacts %s", i, g, w)
		}
	}
	return ""
}

// checkScreenerSummary compares the summary of a filter with the facts.
func checkScreenerSummary(v *venue, query, where string) {
	v.t.Helper()
	var filters []string
	for part := range strings.SplitSeq(query, "&") {
		if !strings.HasPrefix(part, "sort=") && !strings.HasPrefix(part, "order=") && part != "" {
			filters = append(filters, part)
		}
	}
	s := reply[wire.One[wire.ScreenerSummary]](v, "/screener/summary?"+strings.Join(filters, "&")).Data
	var got []string
	add := func(parts ...any) { got = append(got, strings.TrimSuffix(fmt.Sprintln(parts...), "\n")) }
	add("all", s.Count, int64(s.Volume24h), int64(s.Volume7d), int64(s.Volume30d), int64(s.Volume), s.LiquidityMarkets, s.TagCount)
	for _, f := range s.ByCategory {
		add("category", f.Count, *f.Name, int64(f.Volume24h))
	}
	for _, f := range s.ByTag {
		add("tag", f.Count, *f.Name, int64(f.Volume24h))
	}
	for _, b := range s.ByPrice {
		if b.Count > 0 {
			add("price", known(b.From), b.Count, int64(b.Volume24h))
		}
	}
	for _, b := range s.ByEndDate {
		if b.Count > 0 {
			add("end", b.Bucket, b.Count, int64(b.Volume24h))
		}
	}
	want := v.table(screenerSQL + `, kept AS (SELECT * FROM screened WHERE ` + where + `), tagged AS (SELECT unnest(list_distinct(tags)) AS tag, * FROM kept)
SELECT line FROM (
  SELECT 0 AS part, 0 AS a, '' AS b, concat_ws(' ', 'all', count(*), sum(volume_24h)::BIGINT, sum(volume_7d)::BIGINT, sum(volume_30d)::BIGINT, sum(volume)::BIGINT,
    count(liquidity), (SELECT count(DISTINCT tag) FROM tagged)) AS line FROM kept
  UNION ALL SELECT 1, -count(*), category, concat_ws(' ', 'category', count(*), category, sum(volume_24h)::BIGINT) FROM kept GROUP BY category
  UNION ALL (SELECT 2, -count(*), tag, concat_ws(' ', 'tag', count(*), tag, sum(volume_24h)::BIGINT) FROM tagged GROUP BY tag ORDER BY count(*) DESC, tag LIMIT 50)
  UNION ALL SELECT 3, bucket, '', concat_ws(' ', 'price', if(bucket = 99, '-', (bucket * 100000)::VARCHAR), count(*), sum(volume_24h)::BIGINT)
    FROM (SELECT *, if(price IS NULL, 99, least(price // 100000, 9))::INT AS bucket FROM kept) GROUP BY bucket
  UNION ALL SELECT 4, bucket, '', concat_ws(' ', 'end', ['ended', '24h', '7d', '30d', '90d', 'later', 'unknown'][bucket], count(*), sum(volume_24h)::BIGINT)
    FROM (SELECT *, CASE WHEN end_at IS NULL THEN 7 WHEN end_at < t THEN 1 WHEN end_at < t + 86400e6 THEN 2 WHEN end_at < t + 7 * 86400e6 THEN 3
      WHEN end_at < t + 30 * 86400e6 THEN 4 WHEN end_at < t + 90 * 86400e6 THEN 5 ELSE 6 END AS bucket FROM kept, newest) GROUP BY bucket
) ORDER BY part, a, b`)
	if !slices.Equal(got, want) {
		v.t.Errorf("summary of %q differs\n%s", query, firstDifference(got, want))
	}
}

func known(m *data.Micro) any {
	if m == nil {
		return "-"
	}
	return int64(*m)
}

func second(t *time.Time) int64 {
	if t == nil {
		return 0
	}
	return t.Unix()
}
