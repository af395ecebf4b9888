-- The facts in PostgreSQL, with positions and daily sums as one would make them by hand, the
-- indexes that the reads need, and the reads. :w is a random wallet.

-- name: CreateFills
CREATE TABLE fills (ts bigint, wallet int, token int, side smallint, role smallint, shares bigint, usd bigint, fee bigint, tx bytea, log_index int, repeat smallint)

-- name: CreateTokens
CREATE TABLE tokens (token int, token_id text, market int, outcome smallint)

-- name: CreateMarkets
CREATE TABLE markets (market int, condition bytea, question text, slug text, event_id text, event_slug text, category text, outcomes text, payouts bigint[],
  resolved_at bigint)

-- name: CopyFills
COPY fills FROM '@dir/fills.csv' CSV

-- name: CopyTokens
COPY tokens FROM '@dir/tokens.csv' CSV

-- name: CopyMarkets
COPY markets FROM '@dir/markets.csv' CSV

-- name: CreatePosition
CREATE TABLE position AS SELECT wallet, token, count(*) AS n, sum(CASE side WHEN 0 THEN shares ELSE 0 END)::bigint AS bs,
  sum(CASE side WHEN 1 THEN shares ELSE 0 END)::bigint AS ss, sum(CASE side WHEN 0 THEN greatest(fee, 0) ELSE 0 END)::bigint AS fs, sum(CASE side WHEN 0 THEN usd ELSE 0 END)::bigint AS bu,
  sum(CASE side WHEN 1 THEN usd ELSE 0 END)::bigint AS su, sum(CASE side WHEN 1 THEN fee ELSE greatest(-fee, 0) END)::bigint AS fu, min(ts) AS first, max(ts) AS last
  FROM fills GROUP BY wallet, token ORDER BY wallet, token

-- name: CreateDay
CREATE TABLE day AS SELECT wallet, ts / 86400000000 AS day, count(*) AS n, sum(CASE side WHEN 0 THEN usd ELSE 0 END)::bigint AS bu,
  sum(CASE side WHEN 1 THEN usd ELSE 0 END)::bigint AS su, sum(CASE side WHEN 1 THEN fee ELSE greatest(-fee, 0) END)::bigint AS fu FROM fills GROUP BY 1, 2 ORDER BY 1, 2

-- name: IndexFills
CREATE INDEX ON fills (wallet, ts DESC)

-- name: IndexPosition
CREATE INDEX ON position (wallet)

-- name: IndexDay
CREATE INDEX ON day (wallet, day DESC)

-- name: IndexTokens
CREATE UNIQUE INDEX ON tokens (token)

-- name: IndexMarkets
CREATE UNIQUE INDEX ON markets (market)

-- name: Analyze
VACUUM ANALYZE

-- name: Trades
SELECT f.ts, f.tx, f.log_index, m.condition, m.question, m.slug, m.event_id, m.event_slug, m.outcomes, t.outcome, t.token_id, f.side, f.role,
  f.shares, f.usd, f.fee, m.payouts FROM fills AS f JOIN tokens AS t ON t.token = f.token LEFT JOIN markets AS m ON m.market = t.market
  WHERE f.wallet = :w ORDER BY f.ts DESC, f.tx DESC, f.side DESC, f.shares DESC, f.usd DESC, f.token DESC LIMIT 50

-- name: Markets
SELECT m.condition, m.question, m.slug, m.event_id, m.event_slug, m.category, m.outcomes, m.payouts, m.resolved_at, p.* FROM (
  SELECT t.market, sum(n) AS n, sum(bu) AS bu, sum(su) AS su, sum(fu) AS fu, min(first) AS first, max(last) AS last, array_agg(t.token_id) AS tokens, array_agg(t.outcome) AS outcome,
    array_agg(bs) AS bs, array_agg(ss) AS ss, array_agg(fs) AS fs FROM position AS h JOIN tokens AS t ON t.token = h.token WHERE h.wallet = :w
  GROUP BY t.market ORDER BY sum(bu + su) DESC LIMIT 50) AS p LEFT JOIN markets AS m ON m.market = p.market

-- name: Days
SELECT coalesce(d.day, p.day) AS day, n, bu, su, fu, paid FROM (SELECT day, n, bu, su, fu FROM day WHERE wallet = :w) AS d
  FULL JOIN (SELECT at / 86400000000 AS day, sum(paid) AS paid FROM (
    SELECT m.resolved_at AS at, round(sum((bs - ss - fs)::numeric * m.payouts[t.outcome + 1]) / 1000000) AS paid FROM position AS h
    JOIN tokens AS t ON t.token = h.token JOIN markets AS m ON m.market = t.market WHERE h.wallet = :w AND m.payouts IS NOT NULL GROUP BY m.market, m.resolved_at) AS x
  GROUP BY at / 86400000000 HAVING sum(paid) <> 0) AS p ON p.day = d.day ORDER BY 1 DESC LIMIT 90
