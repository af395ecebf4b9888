package main

import (
	"errors"
	"fmt"
	mrand "math/rand/v2"
	"path/filepath"
	"time"

	"pmx/data"
	"pmx/http/wire"
	"pmx/rollups/serving"
)

// exported are the tables for PostgreSQL: the facts, and the names of their tokens and markets.
// From these, PostgreSQL makes positions and daily sums as one would by hand.
var exported = map[string]string{
	"fills":  `SELECT ts, wallet, token, side, role, shares, usd, fee, '\x' || lower(hex(tx)) AS tx, log_index, repeat FROM fills`,
	"tokens": `SELECT token, token_id, market, outcome FROM tokens`,
	"markets": `SELECT market, '\x' || lower(hex(condition)) AS condition, question, slug, event_id, event_slug, category, outcomes,
  '{' || array_to_string(payouts, ',') || '}' AS payouts, resolved_at FROM markets`,
}

// rivalSchema creates and fills the tables, with the indexes that the reads need.
var rivalSchema = []string{
	`CREATE TABLE fills (ts bigint, wallet int, token int, side smallint, role smallint, shares bigint, usd bigint, fee bigint, tx bytea, log_index int, repeat smallint)`,
	`CREATE TABLE tokens (token int, token_id text, market int, outcome smallint)`,
	`CREATE TABLE markets (market int, condition bytea, question text, slug text, event_id text, event_slug text, category text, outcomes text, payouts bigint[], resolved_at bigint)`,
	`COPY fills FROM '@dir/fills.csv' CSV`, `COPY tokens FROM '@dir/tokens.csv' CSV`, `COPY markets FROM '@dir/markets.csv' CSV`,
	`CREATE TABLE position AS SELECT wallet, token, count(*) AS n, sum(CASE side WHEN 0 THEN shares ELSE 0 END)::bigint AS bs,
  sum(CASE side WHEN 1 THEN shares ELSE 0 END)::bigint AS ss, sum(CASE side WHEN 0 THEN greatest(fee, 0) ELSE 0 END)::bigint AS fs, sum(CASE side WHEN 0 THEN usd ELSE 0 END)::bigint AS bu,
  sum(CASE side WHEN 1 THEN usd ELSE 0 END)::bigint AS su, sum(CASE side WHEN 1 THEN fee ELSE greatest(-fee, 0) END)::bigint AS fu, min(ts) AS first, max(ts) AS last
  FROM fills GROUP BY wallet, token ORDER BY wallet, token`,
	`CREATE TABLE day AS SELECT wallet, ts / 86400000000 AS day, count(*) AS n, sum(CASE side WHEN 0 THEN usd ELSE 0 END)::bigint AS bu,
  sum(CASE side WHEN 1 THEN usd ELSE 0 END)::bigint AS su, sum(CASE side WHEN 1 THEN fee ELSE greatest(-fee, 0) END)::bigint AS fu FROM fills GROUP BY 1, 2 ORDER BY 1, 2`,
	`CREATE INDEX ON fills (wallet, ts DESC)`, `CREATE INDEX ON position (wallet)`, `CREATE INDEX ON day (wallet, day DESC)`,
	`CREATE UNIQUE INDEX ON tokens (token)`, `CREATE UNIQUE INDEX ON markets (market)`,
	`VACUUM ANALYZE`,
}

// walletReads are the endpoints of one wallet, each with a query that returns the same rows from
// PostgreSQL.
var walletReads = []struct{ what, path, rival string }{
	{"trades", "/trades", `SELECT f.ts, f.tx, f.log_index, m.condition, m.question, m.slug, m.event_id, m.event_slug, m.outcomes, t.outcome, t.token_id, f.side, f.role,
  f.shares, f.usd, f.fee, m.payouts FROM fills AS f JOIN tokens AS t ON t.token = f.token LEFT JOIN markets AS m ON m.market = t.market
  WHERE f.wallet = :w ORDER BY f.ts DESC, f.tx DESC, f.side DESC, f.shares DESC, f.usd DESC, f.token DESC LIMIT 50`},
	{"markets", "/markets", `SELECT m.condition, m.question, m.slug, m.event_id, m.event_slug, m.category, m.outcomes, m.payouts, m.resolved_at, p.* FROM (
  SELECT t.market, sum(n) AS n, sum(bu) AS bu, sum(su) AS su, sum(fu) AS fu, min(first) AS first, max(last) AS last, array_agg(t.token_id) AS tokens, array_agg(t.outcome) AS outcome,
    array_agg(bs) AS bs, array_agg(ss) AS ss, array_agg(fs) AS fs FROM position AS h JOIN tokens AS t ON t.token = h.token WHERE h.wallet = :w
  GROUP BY t.market ORDER BY sum(bu + su) DESC LIMIT 50) AS p LEFT JOIN markets AS m ON m.market = p.market`},
	{"daily activity", "/activity/daily", `SELECT coalesce(d.day, p.day) AS day, n, bu, su, fu, paid FROM (SELECT day, n, bu, su, fu FROM day WHERE wallet = :w) AS d
  FULL JOIN (SELECT at / 86400000000 AS day, sum(paid) AS paid FROM (
    SELECT m.resolved_at AS at, round(sum((bs - ss - fs)::numeric * m.payouts[t.outcome + 1]) / 1000000) AS paid FROM position AS h
    JOIN tokens AS t ON t.token = h.token JOIN markets AS m ON m.market = t.market WHERE h.wallet = :w AND m.payouts IS NOT NULL GROUP BY m.market, m.resolved_at) AS x
  GROUP BY at / 86400000000 HAVING sum(paid) <> 0) AS p ON p.day = d.day ORDER BY 1 DESC LIMIT 90`},
}

// wallets measures the endpoints of random wallets, compared with PostgreSQL with B-tree indexes on
// the same rows.
func (b *bench) wallets() error {
	rival, err := b.rivalWallets()
	if errors.Is(err, errNoPostgres) {
		b.add("one wallet's trades, markets, days", "", "skipped: "+err.Error(), "", "≥ 1.00")
	} else if err != nil {
		return err
	}
	if rival != nil {
		defer func() { _ = rival.stop() }()
	}
	began := time.Now()
	s, err := b.serve("large")
	if err != nil {
		return err
	}
	s.keeper.Settle()
	snap := s.keeper.Snapshot()
	file := s.keeper.WalletStats()
	b.add("segments in wallet order: bytes per fill, time to build", fmt.Sprintf("%.1f B, %s", float64(file.Bytes)/float64(max(file.Stored, 1)),
		time.Since(began).Round(100*time.Millisecond)), "", "", "≤ 45 B")
	tokens, texts := s.keeper.MarketStats()
	b.add("segments of newest fills and of market texts, built in the same time", fmt.Sprintf("%s fills, %.1f B each; %s markets, %.0f B each",
		count(tokens.Stored), float64(tokens.Bytes)/float64(max(tokens.Stored, 1)), count(texts.Stored), float64(texts.Bytes)/float64(max(texts.Stored, 1))), "", "", "")
	for _, r := range walletReads {
		if err := b.walletRead(s, rival, r.what, randomWallets(snap, r.path, 1), r.rival, snap.Wallets()); err != nil {
			return errors.Join(err, s.close())
		}
	}
	return s.close()
}

// randomWallets are paths of an endpoint for random wallets.
func randomWallets(snap *serving.Snapshot, path string, seed uint64) []string {
	rng := mrand.New(mrand.NewPCG(seed, 2))
	paths := make([]string, 100_000)
	for i := range paths {
		paths[i] = wire.Base + "/trader/" + snap.WalletAt(data.WalletID(rng.IntN(snap.Wallets()))).String() + path
	}
	return paths
}

// walletRead measures both in turns.
func (b *bench) walletRead(s *service, rival *postgres, what string, paths []string, script string, wallets int) error {
	var ours, theirs []float64
	ratioText, against := "", ""
	text := ""
	for range 3 {
		o, err := s.ask(b.ctx, paths)
		if err != nil {
			return err
		}
		ours = append(ours, o.PerSecond)
		text = fmt.Sprintf("p50 %s, p99 %s, %s B", short(o.P50), short(o.P99), count(o.Bytes/max(o.Requests, 1)))
		if rival == nil {
			continue
		}
		rate, p50, p99, err := rival.ask(b.ctx, script, b.Conns, wallets)
		if err != nil {
			return err
		}
		theirs = append(theirs, rate)
		against = fmt.Sprintf(", p50 %s, p99 %s", short(p50), short(p99))
	}
	o := middle(ours)
	if rival != nil {
		r := middle(theirs)
		against = "PostgreSQL " + count(int64(r)) + "/s" + against
		ratioText = ratio(o, r)
	}
	b.add(what+" of random wallets over HTTP, "+count(b.Fills)+" fills", count(int64(o))+"/s, "+text, against, ratioText, "≥ 1.00, p99 ≤ 2 ms")
	return nil
}

// rivalWallets returns a cluster with the same rows.
func (b *bench) rivalWallets() (*postgres, error) {
	p, err := startPostgres(b.ctx, b.Buffers)
	if err != nil {
		return nil, err
	}
	if err := b.fillRival(p); err != nil {
		return nil, errors.Join(err, p.stop())
	}
	return p, nil
}

func (b *bench) fillRival(p *postgres) error {
	db, err := duck("", "2GB")
	if err != nil {
		return err
	}
	defer func() { _ = db.Close() }()
	if err := execAll(b.ctx, db, "ATTACH '"+b.path("large", "pmx.duckdb")+"' AS p (READ_ONLY)", "USE p"); err != nil {
		return err
	}
	for name, query := range exported {
		if err := execAll(b.ctx, db, fmt.Sprintf("COPY (%s) TO '%s' (FORMAT csv, HEADER false)", query, filepath.Join(p.dir, name+".csv"))); err != nil {
			return err
		}
	}
	for _, stmt := range substituted(rivalSchema, "@dir", p.dir) {
		if err := p.sql(b.ctx, stmt); err != nil {
			return fmt.Errorf("%.40s…: %w", stmt, err)
		}
	}
	return nil
}
