-- Fills of a file in which texts of wallets and tokens repeat: see data.Texts. They are staged
-- with their ids at once.

-- name: FirstIDs
-- The ids that the next wallet and token get, and the blocks with several times.
SELECT (SELECT coalesce(max(wallet) + 1, 0) FROM wallets), (SELECT coalesce(max(token) + 1, 0) FROM tokens), (SELECT count(*) FROM block_times)

-- name: WalletTexts
CREATE OR REPLACE TEMP TABLE s_wallet AS
SELECT coalesce(w.wallet, @first + row_number() OVER (PARTITION BY w.wallet IS NULL ORDER BY k.first_row, k.address) - 1)::INTEGER AS wallet,
  k.address, k.text
FROM (@query) AS k LEFT JOIN wallets AS w ON w.address = k.address

-- name: SaidTexts
CREATE OR REPLACE TEMP TABLE s_said AS @query

-- name: TokenTexts
CREATE OR REPLACE TEMP TABLE s_token AS
SELECT coalesce(t.token, @first + row_number() OVER (PARTITION BY t.token IS NULL ORDER BY k.first_row, k.token_id) - 1)::INTEGER AS token,
  k.token_id, k.text
FROM (SELECT text, any_value(token) AS token_id, min(first_row) AS first_row FROM s_said GROUP BY text) AS k
LEFT JOIN tokens AS t ON t.token_id = k.token_id

-- name: TextsUsable
-- Whether each text names a different wallet or token and is usable, and whether conditions are
-- named.
SELECT (SELECT count(*) = count(DISTINCT address) FROM s_wallet) AND (SELECT count(*) = count(DISTINCT token_id) FROM s_token)
  AND (SELECT coalesce(bool_and(usable), true) FROM s_said), (SELECT count(condition) > 0 FROM s_said)

-- name: FillsOfTexts
CREATE OR REPLACE TEMP TABLE s_fill AS
SELECT r.row, r.tx, CASE WHEN r.tx IS NOT NULL THEN r.log_index END AS log_index, r.ts, w.wallet, t.token,
  r.side, r.role, r.shares, r.usd, coalesce(r.fee, 0) AS fee, 1::SMALLINT AS repeat, r.block, false AS lost, NULL::BIGINT AS said, r.usable
FROM (SELECT *, @reason IS NULL AS usable FROM (@query) AS q) AS r
JOIN s_wallet AS w ON w.text = r.wallet
JOIN s_token AS t ON t.text = r.token

-- name: FillsOfTextsCount
SELECT count(*) FILTER (usable), count(block) FROM s_fill

-- name: NamesInTexts
SELECT count(*) > 0 FROM (@query) AS q WHERE name <> ''

-- name: PlainKnown
-- The ids that the next wallet and token get, and how many there are.
SELECT coalesce(max(w.next), 0), coalesce(max(t.next), 0), coalesce(max(w.n), 0), coalesce(max(t.n), 0)
FROM (SELECT max(wallet) + 1 AS next, count(*) AS n FROM wallets) AS w, (SELECT max(token) + 1 AS next, count(*) AS n FROM tokens) AS t

-- name: PlainWallets
SELECT wallet, address FROM wallets

-- name: PlainTokens
SELECT token, token_id FROM tokens

-- name: PlainFills
-- The fills of a plain file: see stage_plain.go.
CREATE OR REPLACE TEMP TABLE s_fill (row BIGINT, tx BLOB, log_index INTEGER, ts BIGINT, wallet INTEGER, token INTEGER, side TINYINT, role TINYINT,
  shares BIGINT, usd BIGINT, fee BIGINT, repeat SMALLINT, block BIGINT, lost BOOLEAN, said BIGINT)

-- name: PlainSaid
CREATE OR REPLACE TEMP TABLE s_said (token VARCHAR, condition BLOB, outcome TINYINT, first_row BIGINT)

-- name: PlainTail
-- The number of facts, the time of the newest, what forbids appending, and whether rollups are rebuilt anyway.
SELECT (SELECT count(*) FROM fills), coalesce(max(ts), 0), (SELECT count(*) FROM block_times), (SELECT count(*) FROM lost_fills),
  (SELECT bool_or(stale) IS TRUE FROM rollup_state)
FROM fills WHERE seconds = (SELECT max(seconds) FROM fills)

-- name: AppendedFills
-- The batch is what was appended, with the index of the file in each row's number; every file has its own batch.
CREATE OR REPLACE TEMP VIEW n_fill AS
SELECT (batch - @batch)::BIGINT << @shift AS row, 1::TINYINT AS sign, ts, wallet, token, side, role, shares, usd, fee, tx, log_index, repeat, block,
  NULL::BIGINT AS rid
FROM fills WHERE batch >= @batch

-- name: AppendedKnown
-- Whether an appended fill may be one that was a fact before: it is equal, or has the same log. Only facts of the
-- newest day can be.
WITH appended AS MATERIALIZED (FROM fills WHERE batch >= @batch AND seconds BETWEEN @lo // 1000000 AND @hi // 1000000 AND ts >= @lo AND ts < @hi),
before AS MATERIALIZED (
  SELECT f.* FROM fills AS f SEMI JOIN appended AS a ON a.tx IS NOT DISTINCT FROM f.tx
  WHERE f.batch < @batch AND f.seconds BETWEEN @lo // 1000000 AND @hi // 1000000 AND f.ts >= @lo AND f.ts < @hi
)
SELECT EXISTS (
  SELECT 1 FROM before AS b SEMI JOIN appended AS a
    ON a.ts = b.ts AND a.wallet = b.wallet AND a.token = b.token AND a.side = b.side AND a.shares = b.shares AND a.usd = b.usd AND a.tx IS NOT DISTINCT FROM b.tx
  UNION ALL
  SELECT 1 FROM before AS b SEMI JOIN appended AS a ON a.tx = b.tx AND a.log_index = b.log_index
)
