package main

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"time"
)

func substituted(stmts []string, pairs ...string) []string {
	r := strings.NewReplacer(pairs...)
	out := make([]string, len(stmts))
	for i, s := range stmts {
		out[i] = r.Replace(s)
	}
	return out
}

const legs = `SUM(CASE WHEN role <> 1 THEN 1 ELSE 0 END)::BIGINT, SUM(CASE WHEN role <> 1 THEN usd ELSE 0 END)::BIGINT,
  SUM(CASE WHEN role <> 1 THEN shares ELSE 0 END)::BIGINT, SUM(CASE WHEN role = 1 THEN 1 ELSE 0 END)::BIGINT,
  SUM(CASE WHEN role = 1 THEN usd ELSE 0 END)::BIGINT, SUM(CASE WHEN role = 1 THEN shares ELSE 0 END)::BIGINT`

// rivalRebuild derives the same rollups with bare statements, written as one
// would by hand: no bases in key order, no deltas, no transaction around them.
var rivalRebuild = []string{
	`CREATE TABLE position AS SELECT token, wallet, count(*) AS fills,
  SUM(CASE side WHEN 0 THEN shares ELSE 0 END)::BIGINT AS bs, SUM(CASE side WHEN 1 THEN shares ELSE 0 END)::BIGINT AS ss,
  SUM(CASE side WHEN 0 THEN greatest(fee, 0) ELSE 0 END)::BIGINT AS fs, SUM(CASE side WHEN 0 THEN usd ELSE 0 END)::BIGINT AS bu,
  SUM(CASE side WHEN 1 THEN usd ELSE 0 END)::BIGINT AS su, SUM(CASE side WHEN 1 THEN fee ELSE greatest(-fee, 0) END)::BIGINT AS fu
FROM p.fills GROUP BY token, wallet`,
	`CREATE TABLE wallet_day AS SELECT ts // 86400000000 AS day, wallet, count(*) AS fills,
  SUM(CASE side WHEN 0 THEN usd ELSE 0 END)::BIGINT AS bu, SUM(CASE side WHEN 1 THEN usd ELSE 0 END)::BIGINT AS su,
  SUM(CASE side WHEN 1 THEN fee ELSE greatest(-fee, 0) END)::BIGINT AS fu FROM p.fills GROUP BY day, wallet`,
	`CREATE TABLE token_day AS SELECT ts // 86400000000 AS day, token, ` + legs + ` FROM p.fills GROUP BY day, token`,
	`CREATE TABLE token_total AS SELECT token, ` + legs + `, min(ts), max(ts) FROM p.fills GROUP BY token`,
	`CREATE TABLE platform_hour AS SELECT ts // 3600000000 AS hour, ` + legs + ` FROM p.fills GROUP BY hour`,
	`CREATE TABLE platform_day AS SELECT ts // 86400000000 AS day, ` + legs + `, count(DISTINCT wallet) FROM p.fills GROUP BY day`,
	`CREATE TABLE held AS SELECT h.wallet, t.market, any_value(m.resolved_at) AS resolved_at, bool_or(m.payouts IS NOT NULL) AS resolved,
  SUM(h.fills)::BIGINT AS fills, SUM(h.su - h.bu - h.fu)::BIGINT AS cash,
  round(coalesce(SUM((h.bs - h.ss - h.fs)::HUGEINT * m.payouts[t.outcome + 1]), 0) / 1000000)::BIGINT AS redemption,
  count(*) FILTER (h.bs - h.ss - h.fs < 0 AND m.payouts IS NOT NULL) AS short
FROM position AS h JOIN p.tokens AS t ON t.token = h.token LEFT JOIN p.markets AS m ON m.market = t.market GROUP BY h.wallet, t.market`,
	`CREATE TABLE market_wallets AS SELECT market, count(*) FROM held GROUP BY market`,
	`CREATE TABLE redemption AS SELECT resolved_at, market, wallet, redemption AS usd FROM held WHERE resolved AND redemption <> 0`,
	`CREATE TABLE wallet_total AS
SELECT f.*, d.days, h.markets, h.resolved, h.won, h.redemption, h.open_cash
FROM (SELECT wallet, count(*) AS fills, count(*) FILTER (role = 1) AS makers, count(*) FILTER (role = 2) AS takers,
  SUM(CASE side WHEN 0 THEN usd ELSE 0 END)::BIGINT AS bu, SUM(CASE side WHEN 1 THEN usd ELSE 0 END)::BIGINT AS su,
  min(ts) AS first, max(ts) AS last FROM p.fills GROUP BY wallet) AS f
JOIN (SELECT wallet, count(*) AS days FROM wallet_day GROUP BY wallet) AS d USING (wallet)
JOIN (SELECT wallet, count(*) AS markets, count(*) FILTER (resolved) AS resolved, count(*) FILTER (resolved AND cash + redemption > 0) AS won,
  SUM(redemption)::BIGINT AS redemption, SUM(cash) FILTER (NOT resolved)::BIGINT AS open_cash FROM held GROUP BY wallet) AS h USING (wallet)`,
	`CREATE TABLE wallet_window AS ` + windows(`SELECT @span AS span, wallet, SUM(fills)::BIGINT, SUM(bu)::BIGINT, SUM(su)::BIGINT, SUM(r)::BIGINT FROM (
  SELECT wallet, 1 AS fills, CASE side WHEN 0 THEN usd ELSE 0 END AS bu, CASE side WHEN 1 THEN usd ELSE 0 END AS su, 0 AS r FROM p.fills WHERE ts > @lo
  UNION ALL SELECT wallet, 0, 0, 0, usd FROM redemption WHERE resolved_at > @lo AND resolved_at <= @hi) AS x GROUP BY wallet`),
	`CREATE TABLE token_window AS ` + windows(`SELECT @span AS span, token, `+legs+` FROM p.fills WHERE ts > @lo GROUP BY token`),
	"CHECKPOINT",
}

func windows(query string) string {
	var spans []string
	for span, length := range []int64{86_400_000_000, 604_800_000_000, 2_592_000_000_000} {
		spans = append(spans, strings.NewReplacer("@span", fmt.Sprint(span), "@lo", fmt.Sprintf("(@asof - %d)", length), "@hi", "@asof").Replace(query))
	}
	return strings.Join(spans, " UNION ALL ")
}

// rebuild measures pmx rebuild against the bare statements over the same facts, and these in ClickHouse.
func (b *bench) rebuild() error {
	k, err := open(b.ctx, b.path("large"), false)
	if err != nil {
		return err
	}
	resetPeak()
	ours, err := measuredRebuild(func() error { return k.Rebuild(b.ctx, nil) })
	peak := peakMemory()
	if err := errors.Join(err, k.Close()); err != nil {
		return err
	}
	return b.rebuildRivals(ours, peak)
}

func (b *bench) rebuildRivals(ours rebuildTime, peak int64) (err error) {
	path := b.path("rival.duckdb")
	defer func() { _ = os.Remove(path) }()
	db, err := duck(path, "8GB")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	var asOf int64
	if err := execAll(b.ctx, db, "ATTACH '"+b.path("large", "pmx.duckdb")+"' AS p (READ_ONLY)"); err != nil {
		return err
	}
	if err := db.QueryRowContext(b.ctx, "SELECT max(ts) FROM p.fills").Scan(&asOf); err != nil {
		return err
	}
	rival, err := measuredRebuild(func() error {
		return execAll(b.ctx, db, substituted(rivalRebuild, "@asof", fmt.Sprint(asOf))...)
	})
	if err != nil {
		return err
	}
	what := "rebuild every rollup, " + count(b.Fills) + " fills"
	b.add(what, ours.String(), "bare SQL "+rival.String(), ratio(ours.took.Seconds(), rival.took.Seconds()), "≤ 1.25")
	b.add("peak memory of the rebuild", fmt.Sprintf("%.1f GiB", float64(peak)/(1<<30)), "", "", "≤ 12 GiB at 100M")
	answer, err := b.clickhouse(db, asOf)
	switch {
	case errors.Is(err, errNoClickHouse):
		b.add(what, ours.String(), err.Error(), "", "≤ 1")
	case err == nil:
		theirs := rebuildTime{time.Duration(answer.Seconds * float64(time.Second)), time.Duration(answer.Processor * float64(time.Second))}
		b.add(what, ours.String(), "the tables of bare SQL in ClickHouse "+answer.Version+" "+theirs.String(), ratio(ours.took.Seconds(), theirs.took.Seconds()), "≤ 1")
		err = nil
	}
	return err
}
