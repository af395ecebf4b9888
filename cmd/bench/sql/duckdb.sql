-- What is run on databases of pmx and on separate ones of DuckDB. p is a database of pmx that is
-- attached to a separate one, or the current one.

-- name: LoadWallets
CREATE TABLE wallets AS
SELECT (row_number() OVER () - 1)::INTEGER AS wallet, address FROM (SELECT DISTINCT unhex(substr(address, 3)) AS address FROM read_parquet('@file'))

-- name: LoadTokens
CREATE TABLE tokens AS SELECT (row_number() OVER () - 1)::INTEGER AS token, token_id FROM (SELECT DISTINCT token_id FROM read_parquet('@file'))

-- name: LoadEmpty
CREATE TABLE fills (ts BIGINT, wallet INTEGER, token INTEGER, side TINYINT, role TINYINT, shares BIGINT, usd BIGINT, fee BIGINT, tx BLOB,
  log_index INTEGER, repeat SMALLINT, batch INTEGER)

-- name: LoadFills
INSERT INTO fills
SELECT epoch_us(f.ts), w.wallet, t.token, CASE f.side WHEN 'BUY' THEN 0 ELSE 1 END, CASE f.role WHEN 'maker' THEN 1 WHEN 'taker' THEN 2 ELSE 0 END,
  (f.shares * 1000000)::BIGINT, (f.usd * 1000000)::BIGINT,
  (CASE WHEN f.side = 'BUY' AND f.fee_asset = 'usd' THEN -f.fee ELSE f.fee END * 1000000)::BIGINT, unhex(substr(f.transaction_hash, 3)), f.log_index, 1, 0
FROM read_parquet('@file') AS f
JOIN wallets AS w ON w.address = unhex(substr(f.address, 3))
JOIN tokens AS t ON t.token_id = f.token_id
@order

-- name: NewestFills
-- The newest fills of the venue, with their wallet addresses and token ids.
SELECT f.ts, w.address, t.token_id, f.side, f.role, f.shares, f.usd, f.fee
FROM (SELECT * FROM fills WHERE ts > (SELECT max(ts) FROM fills) - 864000000000 ORDER BY ts DESC LIMIT @rows) AS f
JOIN wallets AS w ON w.wallet = f.wallet JOIN tokens AS t ON t.token = f.token ORDER BY f.ts

-- name: FreshFills
-- Writes a file of new fills: copies of the newest ones of the venue with other transactions, so that they have the currently
-- active wallets and markets. Their times are after the newest fact, in a span of @span seconds.
COPY (
  SELECT (SELECT max(ts) FROM fills) + 1000000 * (1 + (row_number() OVER (ORDER BY f.ts, f.tx, f.log_index, f.wallet) - 1) * @span // @rows) AS ts, '0x' || lower(hex(w.address)) AS wallet, t.token_id AS token,
    CASE f.side WHEN 0 THEN 'BUY' ELSE 'SELL' END AS side, f.shares / 1000000 AS shares, f.usd / 1000000 AS usd,
    CASE f.role WHEN 1 THEN 'maker' ELSE 'taker' END AS role, '0x' || sha256(hex(f.tx) || '@round') AS tx
  FROM (SELECT * FROM fills WHERE ts > (SELECT max(ts) FROM fills) - 864000000000 ORDER BY ts DESC LIMIT @rows) AS f
  JOIN wallets AS w ON w.wallet = f.wallet JOIN tokens AS t ON t.token = f.token
  ORDER BY ts
) TO '@file' (HEADER)

-- name: BufferMemory
SELECT sum(memory_usage_bytes)::BIGINT FROM duckdb_memory()

-- name: CountWallets
SELECT count(*) FROM wallets

-- name: CrowdWallets
INSERT INTO wallets SELECT i::INTEGER, unhex(substr(sha256(i::VARCHAR), 1, 40)) FROM range(@crowd) AS r(i)

-- name: CrowdTotals
INSERT INTO wallet_total SELECT i::INTEGER, 1 + i % 7, 0, 0, hash(i) % 1000000007, hash(i + 1) % 1000000007, i % 13, 1, 1 + i % 5, i % 3, i % 2,
  0, 0, hash(i + 2) % 500000009, 0, 1700000000000000 + i, 1730000000000000 + i FROM range(@crowd) AS r(i)

-- name: CrowdState
UPDATE rollup_state SET as_of = 1732000000000000, epoch = 1

-- name: BareCopy
-- The rows and columns of the leaderboard.
COPY (
  SELECT row_number() OVER () AS rank, '0x' || lower(hex(address)) AS address, username, fills AS trades, volume / 1e6 AS volume, buy_usd / 1e6 AS buy,
    sell_usd / 1e6 AS sell, cash / 1e6 AS net_cash, redemption / 1e6 AS redemption, pnl / 1e6 AS real_pnl,
    CASE WHEN buy_usd <> 0 THEN round(pnl::DOUBLE / buy_usd, 6) END AS roi, CASE WHEN resolved_markets <> 0 THEN round(winning_markets / resolved_markets, 6) END AS win_rate,
    markets, resolved_markets, winning_markets, make_timestamp(first_ts)::TIMESTAMPTZ AS first_trade_at, make_timestamp(last_ts)::TIMESTAMPTZ AS last_trade_at
  FROM (SELECT t.*, w.address, n.name AS username, buy_usd + sell_usd AS volume, sell_usd - buy_usd - fee_usd AS cash,
      sell_usd - buy_usd - fee_usd + redemption AS pnl
    FROM wallet_total AS t JOIN wallets AS w ON w.wallet = t.wallet LEFT JOIN wallet_names AS n ON n.wallet = t.wallet
    ORDER BY pnl DESC, volume DESC, address LIMIT 2000000) AS ranked
) TO '@file' (@options)

-- name: FactBytes
-- Bytes of the blocks of fills in p.
SELECT count(DISTINCT block_id) * (SELECT any_value(block_size) FROM pragma_database_size() WHERE database_name = 'p') FROM (
  SELECT block_id FROM pragma_storage_info('fills') WHERE persistent AND block_id >= 0
  UNION ALL SELECT unnest(additional_block_ids) FROM pragma_storage_info('fills') WHERE persistent)

-- name: CountFills
SELECT count(*) FROM fills

-- name: NewestTime
SELECT max(ts) FROM p.fills

-- name: Calendar
-- The local days of cities.
CREATE TEMP TABLE calendar (city VARCHAR, day INTEGER, starts BIGINT, noon BIGINT)

-- name: CalendarDays
INSERT INTO calendar VALUES @days

-- name: CitySpans
SELECT city, min(issued_at), max(issued_at) FROM p.weather_issue GROUP BY city

-- name: Derive
-- @kind is TABLE or TEMP TABLE.
CREATE @kind @table AS @query

-- name: Sorted
SELECT * FROM (@query) AS rows ORDER BY @keys

-- name: ColumnsOf
-- The rival's own tables are temporary.
SELECT column_name, data_type FROM duckdb_columns()
WHERE table_name = ? AND (database_name = ? OR ? = 'rival' AND database_name = 'temp') ORDER BY column_index

-- name: TableHash
SELECT count(*), coalesce(SUM(hash(@columns)), 0)::VARCHAR FROM @table

-- name: SameColumn
SELECT (SELECT coalesce(SUM(hash(@column)), 0) FROM @of) = (SELECT coalesce(SUM(hash(@column)), 0) FROM @table)

-- name: RowsNotNear
-- Rows in which a column that the rival computes in floating point is off by more than one.
SELECT count(*) FROM p.@table AS o JOIN @table AS r ON r.@key = o.@key
WHERE (o.@near IS NULL) <> (r.@near IS NULL) OR abs(o.@near - r.@near) > 1

-- name: TableSums
SELECT concat_ws(' ', @sums) FROM @table

-- name: WhaleMin
SELECT min_usd FROM p.whale_rule

-- name: CopyParquet
COPY (@query) TO '@file' (FORMAT parquet)

-- The facts that ClickHouse is given.

-- name: ClickHouseFills
SELECT ts, wallet, token, side, role, shares, usd, fee, tx, log_index FROM p.fills

-- name: ClickHouseTokens
SELECT token, market, outcome FROM p.tokens

-- name: ClickHouseMarkets
SELECT market, resolved_at, coalesce(payouts, []) AS payouts, category, event_slug, event_id FROM p.markets

-- name: ClickHouseDeskMarkets
SELECT market FROM p.desk_market

-- name: ClickHouseIssues
SELECT city, target, metric, source, issued_at, value FROM p.weather_issue

-- name: ClickHouseCalendar
SELECT city, day, starts, noon FROM calendar

-- The facts that PostgreSQL is given.

-- name: CopyCSV
COPY (@query) TO '@file' (FORMAT csv, HEADER false)

-- name: PostgresFills
SELECT ts, wallet, token, side, role, shares, usd, fee, '\x' || lower(hex(tx)) AS tx, log_index, repeat FROM fills

-- name: PostgresTokens
SELECT token, token_id, market, outcome FROM tokens

-- name: PostgresMarkets
SELECT market, '\x' || lower(hex(condition)) AS condition, question, slug, event_id, event_slug, category, outcomes,
  '{' || array_to_string(payouts, ',') || '}' AS payouts, resolved_at FROM markets
