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

-- name: PlainEmpty
-- The fills of a plain CSV file, in their order, with the numbers of their wallets and tokens: see stage_plain.go.
CREATE OR REPLACE TEMP TABLE s_plain (tx BLOB, ts BIGINT, wallet INTEGER, role TINYINT, token INTEGER, side TINYINT, shares BIGINT, usd BIGINT)

-- name: PlainWalletsEmpty
CREATE OR REPLACE TEMP TABLE s_plain_wallet (number INTEGER, address BLOB)

-- name: PlainTokensEmpty
CREATE OR REPLACE TEMP TABLE s_plain_token (number INTEGER, token VARCHAR)

-- name: PlainWallets
SELECT number AS text, address, number AS first_row FROM s_plain_wallet

-- name: PlainTokens
SELECT number AS text, token, NULL::BLOB AS condition, NULL::TINYINT AS outcome, true AS usable, number AS first_row FROM s_plain_token

-- name: PlainFills
SELECT rowid + 1 AS row, tx, NULL::INTEGER AS log_index, NULL::BIGINT AS block, ts, wallet, role, token, NULL::BLOB AS condition,
  NULL::TINYINT AS outcome, side, shares, usd, 0::BIGINT AS fee, NULL::VARCHAR AS name, NULL::VARCHAR AS reject
FROM s_plain
