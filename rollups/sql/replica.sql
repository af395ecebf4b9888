-- How a state differs from the one that is served, whose database is attached as served.

-- name: AttachServed
ATTACH '@file' AS served (READ_ONLY)

-- name: DetachServed
DETACH served

-- name: ServedState
SELECT as_of, stale, epoch FROM served.rollup_state

-- name: FactsSince
-- Whether all served facts are still there and the same orders are whale moves; how many facts
-- are new; and the last import that is served.
SELECT (SELECT count(*) FROM fills WHERE batch <= b.last) = (SELECT count(*) FROM served.fills)
    AND (SELECT min_usd FROM whale_rule) = (SELECT min_usd FROM served.whale_rule),
  (SELECT count(*) FROM fills WHERE batch > b.last), b.last
FROM (SELECT coalesce(max(batch), -1) AS last FROM served.batches) AS b

-- name: BlockSizes
-- Of the database and of the one that is served, in bytes.
SELECT max(block_size::BIGINT) FILTER (WHERE database_name = current_database()), max(block_size::BIGINT) FILTER (WHERE database_name = 'served')
FROM pragma_database_size()

-- name: StoredAlike
-- Whether a table has the same number of rows in both, in segments at the same place and of the
-- same form.
SELECT (SELECT count(*) FROM @table) = (SELECT count(*) FROM served.@table)
  AND NOT EXISTS (FROM pragma_storage_info('@table') EXCEPT FROM pragma_storage_info('served.@table'))
  AND NOT EXISTS (FROM pragma_storage_info('served.@table') EXCEPT FROM pragma_storage_info('@table'))

-- name: StoredIn
-- The blocks of the file that a table's segments are in; -1 is none, -2 not in the file yet.
SELECT DISTINCT coalesce(unnest(list_append(additional_block_ids, block_id)), -2) AS block FROM pragma_storage_info('@table')

-- name: ServedDelta
-- The number of rows of a served delta, the position of the last one, and a sum of the rows'
-- hashes.
SELECT count(*), coalesce(max(rowid), -1), coalesce(SUM(hash(@columns)), 0)::VARCHAR FROM served.@delta

-- name: DeltaUpTo
-- The same for the rows up to a position.
SELECT count(*), coalesce(SUM(hash(@columns)), 0)::VARCHAR FROM @delta WHERE rowid <= @last

-- name: DeltaBehind
SELECT @columns FROM @delta WHERE rowid > @last

-- name: LessRows
-- The rows of a query with the sign of their sums reversed.
SELECT @columns FROM (@rows) AS less

-- name: BothRows
@rows UNION ALL @less

-- name: OtherRows
(@rows) EXCEPT (@less)

-- name: NoneOf
SELECT @columns FROM @table LIMIT 0

-- name: FillsSince
CREATE OR REPLACE TEMP TABLE n_fill AS
SELECT ts, wallet, token, side, role, shares, usd, fee, tx, 1::TINYINT AS sign FROM fills WHERE batch > @last

-- name: HoldersSince
CREATE OR REPLACE TEMP TABLE d_position AS SELECT DISTINCT token, wallet FROM n_fill

-- name: DayFillsSince
-- The fills that entered the last 24 hours, and those that left them.
CREATE OR REPLACE TEMP TABLE w_fill AS
SELECT 0::TINYINT AS span, sign, wallet, token FROM n_fill WHERE ts > @lo
UNION ALL
SELECT 0, -1, wallet, token FROM served.fills WHERE seconds BETWEEN @was // 1000000 AND @lo // 1000000 AND ts > @was AND ts <= @lo

-- name: OtherMarkets
CREATE OR REPLACE TEMP TABLE n_market AS SELECT market FROM (@rows) AS differ

-- name: SameMarkets
CREATE OR REPLACE TEMP TABLE n_market AS SELECT market FROM markets LIMIT 0

-- name: OtherTokens
CREATE OR REPLACE TEMP TABLE n_token AS SELECT token, market FROM (@rows) AS differ WHERE token < @known

-- name: SameTokens
CREATE OR REPLACE TEMP TABLE n_token AS SELECT token, market FROM tokens LIMIT 0

-- name: NoLabels
-- Labels are covered by the tokens.
CREATE OR REPLACE TEMP TABLE n_label AS SELECT token FROM tokens LIMIT 0

-- name: OtherNames
CREATE OR REPLACE TEMP TABLE n_name AS SELECT wallet, name FROM wallet_names EXCEPT SELECT wallet, name FROM served.wallet_names

-- name: NoDeskTokens
-- Tokens that left the desk are already in the rows of the desk's wallets.
CREATE OR REPLACE TEMP TABLE n_desk_token AS SELECT token, true AS gained FROM tokens LIMIT 0

-- name: CountSince
SELECT count(*) FROM @table
