package e2e_test

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"pmx/data"
	"pmx/http/wire"
)

// Plain statements over the facts. Volume is that of takers: the sample venue has takers.
const (
	plainOverview = `WITH newest AS (SELECT max(ts) AS ts FROM fills),
span AS (SELECT unnest([24, 168, 720]) AS hours)
SELECT concat_ws(' ', hours,
  coalesce(sum(usd) FILTER (role <> 1), 0), count(*) FILTER (role <> 1), count(DISTINCT wallet), count(DISTINCT market))
FROM span, fills JOIN tokens USING (token)
WHERE ts > (SELECT ts FROM newest) - hours * 3600000000
GROUP BY hours ORDER BY hours`

	plainBefore = `WITH newest AS (SELECT max(ts) AS ts FROM fills),
born AS (SELECT min(ts) AS ts FROM fills GROUP BY wallet),
span AS (SELECT unnest([168, 720]) AS hours)
SELECT concat_ws(' ', hours,
  (SELECT coalesce(sum(usd), 0) FROM fills, newest WHERE role <> 1 AND fills.ts > newest.ts - hours * 7200000000 AND fills.ts <= newest.ts - hours * 3600000000),
  (SELECT count(*) FROM fills, newest WHERE role <> 1 AND fills.ts > newest.ts - hours * 7200000000 AND fills.ts <= newest.ts - hours * 3600000000),
  (SELECT count(*) FROM born, newest WHERE born.ts > newest.ts - hours * 3600000000),
  (SELECT count(*) FROM born, newest WHERE born.ts > newest.ts - hours * 7200000000 AND born.ts <= newest.ts - hours * 3600000000))
FROM span ORDER BY hours`

	plainEver = `SELECT concat_ws(' ', (SELECT sum(usd) FROM fills WHERE role <> 1), (SELECT sum(shares) FROM fills WHERE role <> 1),
  (SELECT count(*) FROM fills WHERE role <> 1), (SELECT count(DISTINCT wallet) FROM fills), (SELECT count(*) FROM markets),
  (SELECT count(*) FROM markets WHERE payouts IS NOT NULL), (SELECT count(*) FROM markets WHERE payouts IS NULL AND closed IS NOT TRUE),
  (SELECT count(*) FROM markets WHERE payouts IS NULL AND closed = true),
  (SELECT count(DISTINCT coalesce(event_slug, event_id)) FROM markets), (SELECT min(ts) // 1000000 FROM fills), (SELECT max(ts) // 1000000 FROM fills),
  (SELECT count(*) FROM fills), (SELECT count(*) FROM fills JOIN tokens USING (token) WHERE market IS NULL),
  (SELECT sum(CASE WHEN side = 1 THEN usd - fee ELSE -usd END) FROM fills))`

	plainHours = `WITH newest AS (SELECT date_trunc('hour', make_timestamp(max(ts))) AS hour FROM fills),
hours AS (SELECT unnest(generate_series(hour - INTERVAL 23 HOUR, hour, INTERVAL 1 HOUR)) AS hour FROM newest)
SELECT concat_ws(' ', strftime(h.hour, '%Y-%m-%dT%H:%M:%SZ'), coalesce(sum(usd) FILTER (role <> 1), 0),
  coalesce(sum(shares) FILTER (role <> 1), 0), count(*) FILTER (role <> 1), count(DISTINCT wallet))
FROM hours AS h LEFT JOIN fills AS f ON date_trunc('hour', make_timestamp(f.ts)) = h.hour
GROUP BY h.hour ORDER BY h.hour`

	plainDaysOfAll = `WITH f AS (
  SELECT make_timestamp(ts)::DATE AS day, wallet, market, usd, shares, role,
    make_timestamp(min(ts) OVER (PARTITION BY wallet))::DATE AS born,
    CASE WHEN market IS NOT NULL THEN make_timestamp(min(ts) OVER (PARTITION BY market))::DATE END AS opened
  FROM fills JOIN tokens USING (token)
), days AS (SELECT unnest(generate_series(min(day)::TIMESTAMP, max(day)::TIMESTAMP, INTERVAL 1 DAY))::DATE AS day FROM f)
SELECT concat_ws(' ', d.day, coalesce(sum(usd) FILTER (role <> 1), 0), coalesce(sum(shares) FILTER (role <> 1), 0), count(*) FILTER (role <> 1),
  count(DISTINCT wallet), count(DISTINCT wallet) FILTER (born = f.day), count(DISTINCT market) FILTER (opened = f.day), count(DISTINCT market))
FROM days AS d LEFT JOIN f ON f.day = d.day GROUP BY d.day ORDER BY d.day`

	// ? is the date_trunc part.
	plainBuckets = `WITH f AS (
  SELECT date_trunc(?, make_timestamp(ts))::DATE AS bucket, wallet, usd, role,
    date_trunc(?, make_timestamp(min(ts) OVER (PARTITION BY wallet)))::DATE AS born
  FROM fills
)
SELECT concat_ws(' ', bucket, coalesce(sum(usd) FILTER (role <> 1), 0), count(*) FILTER (role <> 1), count(DISTINCT wallet),
  count(DISTINCT wallet) FILTER (born = bucket))
FROM f GROUP BY bucket ORDER BY bucket`
)

// asPlain formats figures as one line, like a plain statement.
func asPlain(figures ...any) string {
	for i, f := range figures {
		if m, ok := f.(data.Micro); ok {
			figures[i] = int64(m)
		}
	}
	text := fmt.Sprintln(figures...)
	return text[:len(text)-1]
}

func checkStats(v *venue) {
	v.t.Helper()
	same := func(what string, want []string, got ...string) {
		v.t.Helper()
		if diff := cmp.Diff(want, got); diff != "" {
			v.t.Errorf("%s (-facts +API):\n%s", what, diff)
		}
	}
	s := reply[wire.One[wire.StatsOverview]](v, "/stats").Data
	same("windows", v.table(plainOverview),
		asPlain(24, s.Volume24h, s.Trades24h, s.ActiveTraders24h, s.ActiveMarkets),
		asPlain(168, s.Volume7d, s.Trades7d, s.ActiveTraders7d, s.ActiveMarkets7d),
		asPlain(720, s.Volume30d, s.Trades30d, s.ActiveTraders30d, s.ActiveMarkets30d))
	r := s.Reconciliation
	same("lifetime", v.table(plainEver), asPlain(s.Volume, s.VolumeShares, s.Trades, s.Traders, s.Markets, s.ResolvedMarkets, s.OpenMarkets,
		s.ClosedMarkets, s.Events, s.FirstTradeAt.Unix(), s.LastTradeAt.Unix(), r.Fills, r.UnmappedFills, r.NetCash))
	if r.RealPnL != r.UnresolvedCash {
		v.t.Errorf("real_pnl %s, of which %s in open markets: the profits of resolved ones do not cancel out", r.RealPnL, r.UnresolvedCash)
	}
	var hours, days []string
	for _, h := range reply[wire.StatsSeries[wire.StatsHour]](v, "/stats/hourly").Data {
		hours = append(hours, asPlain(h.Hour.Format("2006-01-02T15:04:05Z"), h.Volume, h.VolumeShares, h.Trades, h.ActiveWallets))
	}
	same("hours", v.table(plainHours), hours...)
	for _, d := range reply[wire.StatsSeries[wire.StatsDay]](v, "/stats/daily?days=3650").Data {
		days = append(days, asPlain(d.Date, d.Volume, d.VolumeShares, d.Trades, d.ActiveWallets, d.NewWallets, d.NewMarkets, d.ActiveMarkets))
	}
	same("days", v.table(plainDaysOfAll), days...)
	g := reply[wire.One[wire.StatsGrowth]](v, "/stats/growth").Data
	same("windows before", v.table(plainBefore),
		asPlain(168, g.WeekOverWeek.VolumePrevious, g.WeekOverWeek.TradesPrevious, g.WeekOverWeek.NewWallets, g.WeekOverWeek.NewWalletsPrevious),
		asPlain(720, g.MonthOverMonth.VolumePrevious, g.MonthOverMonth.TradesPrevious, g.MonthOverMonth.NewWallets, g.MonthOverMonth.NewWalletsPrevious))
	for part, buckets := range map[string][]wire.GrowthBucket{"week": g.Weeks, "month": g.Months} {
		var lines []string
		for _, b := range buckets {
			lines = append(lines, asPlain(b.FirstDate, b.Volume, b.Trades, b.ActiveWallets, b.NewWallets))
		}
		same(part, v.table(plainBuckets, part, part), lines...)
	}
}

func TestStatsEqualPlainSQLOnTheSampleVenue(t *testing.T) {
	v := readSample(t)
	checkStats(v)
}

// A market is open at an instant if it was listed, and neither closed nor resolved; a scheduled end
// does not matter.
const plainOpen = `WITH newest AS (SELECT max(ts) AS ts FROM fills),
m AS (SELECT coalesce(start_at, created_at) AS lo, CASE WHEN payouts IS NULL AND closed IS NOT TRUE THEN 9223372036854775807
  ELSE least(closed_at, CASE WHEN resolved_at_source > 1 THEN resolved_at END) END AS hi FROM markets)
SELECT concat_ws(' ', count(*) FILTER (lo <= ts AND hi > ts), count(*) FILTER (lo <= ts - 604800000000 AND hi > ts - 604800000000), count(*) FILTER (lo IS NULL OR hi IS NULL))
FROM m, newest`

func TestOpenMarketsEqualPlainSQLOnTheSampleVenue(t *testing.T) {
	v := readSample(t)
	open := reply[wire.One[wire.StatsGrowth]](v, "/stats/growth?days=false").Data.OpenMarkets
	got := fmt.Sprint(open.Count, " ", open.WeekBefore, " ", open.Unknown)
	if diff := cmp.Diff(v.table(plainOpen), []string{got}); diff != "" || open.Count == 0 || open.WeekBefore == 0 || open.ChangePct == nil {
		t.Errorf("%+v (-facts +API):\n%s", open, diff)
	}
}
