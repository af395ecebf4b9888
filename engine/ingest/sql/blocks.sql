-- Times of blocks, and the fills that they date. A block has one time: of several, the earliest,
-- no matter in which order they were imported. A transaction is in one block, so all its fills
-- that have a later time of that block, by the block's number or by their own time, get the
-- earliest.

-- name: BlocksEmpty
CREATE OR REPLACE TEMP TABLE s_block (number BIGINT, ts BIGINT)

-- name: AddBlocks
INSERT INTO blocks SELECT number, min(ts) FROM s_block
WHERE number NOT IN (SELECT number FROM blocks)
GROUP BY number

-- name: MoveBlocks
UPDATE blocks SET ts = s.ts FROM (SELECT number, min(ts) AS ts FROM s_block GROUP BY number) AS s
WHERE s.number = blocks.number AND s.ts < blocks.ts

-- name: BlockConflicts
SELECT 0 AS line, number, max(ts) AS said, min(ts) AS stands
FROM (SELECT number, ts FROM s_block UNION SELECT number, ts FROM blocks WHERE number IN (SELECT number FROM s_block)) AS b
GROUP BY number HAVING count(*) > 1

-- name: AddBlockTimes
-- Runs before the earliest time is stored in blocks.
INSERT INTO block_times
SELECT number, ts FROM (
  SELECT number, ts, min(ts) OVER (PARTITION BY number) AS first
  FROM (SELECT number, ts FROM s_block UNION SELECT number, ts FROM blocks WHERE number IN (SELECT number FROM s_block)) AS b
) AS k
WHERE ts > first AND (number, ts) NOT IN (SELECT (number, ts) FROM block_times)

-- name: KeepSaid
-- The rows' own times, before blocks date them.
CREATE OR REPLACE TEMP TABLE s_raw AS SELECT * REPLACE (coalesce(row, rowid + 1) AS row), ts AS said FROM s_raw

-- name: BlockTimes
UPDATE s_raw SET ts = b.ts FROM blocks AS b WHERE s_raw.ts IS NULL AND b.number = s_raw.block

-- name: LateTimes
-- The later times of blocks, and the one that is used.
CREATE OR REPLACE TEMP TABLE s_late AS
SELECT t.number, t.ts AS was, b.ts FROM block_times AS t JOIN blocks AS b ON b.number = t.number WHERE t.ts > b.ts

-- name: LateTransactions
-- The transactions of these blocks. If sources give two blocks for a transaction, it is in the
-- earlier one.
CREATE OR REPLACE TEMP TABLE s_late_tx AS
SELECT k.tx, l.was, min(l.ts) AS ts
FROM (
  SELECT tx, block FROM fills WHERE block IN (SELECT number FROM s_late)
  UNION
  SELECT tx, block FROM lost_fills WHERE block IN (SELECT number FROM s_late)@staged
) AS k
JOIN s_late AS l ON l.number = k.block
WHERE k.tx IS NOT NULL
GROUP BY k.tx, l.was

-- name: LateStaged
UNION
  SELECT tx, block FROM s_raw WHERE block IN (SELECT number FROM s_late)

-- name: DateStaged
UPDATE s_raw SET ts = l.ts FROM s_late_tx AS l WHERE l.tx = s_raw.tx AND l.was = s_raw.ts

-- name: Late
-- Fills, including lost ones, that have a later time of their block.
CREATE OR REPLACE TEMP TABLE s_moved AS
WITH known AS (
  SELECT rowid AS rid, ts, wallet, token, side, role, shares, usd, fee, tx, log_index, repeat, block FROM fills
  UNION ALL
  SELECT -1 - rowid, ts, wallet, token, side, role, shares, usd, fee, tx, log_index, 1::SMALLINT, block FROM lost_fills
)
SELECT f.*, l.ts AS next FROM known AS f JOIN s_late_tx AS l ON l.tx = f.tx AND l.was = f.ts
UNION ALL
SELECT f.*, l.ts FROM known AS f JOIN s_late AS l ON l.number = f.block AND l.was = f.ts WHERE f.tx IS NULL

-- name: DropLate
DELETE FROM lost_fills WHERE -1 - rowid IN (SELECT rid FROM s_moved)

-- name: StageLate
CREATE OR REPLACE TEMP TABLE s_raw AS
SELECT row_number() OVER () AS row, m.tx, m.log_index, m.block, m.next AS ts, w.address AS wallet, m.role, t.token_id AS token,
  NULL::BLOB AS condition, NULL::TINYINT AS outcome, m.side, m.shares, m.usd, m.fee, NULL::VARCHAR AS name,
  NULL::VARCHAR AS reject, m.repeat
FROM s_moved AS m JOIN wallets AS w ON w.wallet = m.wallet JOIN tokens AS t ON t.token = m.token

-- name: ForgetLate
-- A fill that moves is no longer known at its old time.
DELETE FROM e_fill WHERE rid IN (SELECT rid FROM s_moved)

-- name: RetractLate
INSERT INTO n_fill_rows
SELECT 0, -1, f.ts, f.wallet, f.token, f.side, f.role, f.shares, f.usd, f.fee, f.tx, f.log_index, f.repeat, f.block, f.rid
FROM s_moved AS f WHERE f.rid >= 0

-- name: InBlocks
-- Known rows whose block is given by an equal staged row.
CREATE OR REPLACE TEMP TABLE s_block_of AS
SELECT e.rid, max(s.block) AS block
FROM s_fill AS s JOIN e_fill AS e ON e.tx IS NOT DISTINCT FROM s.tx AND e.ts = s.ts AND e.wallet = s.wallet AND e.token = s.token
  AND e.side = s.side AND e.shares = s.shares AND e.usd = s.usd
WHERE s.block IS NOT NULL AND e.block IS NULL
GROUP BY e.rid

-- name: NoteBlocks
UPDATE @table SET block = k.block FROM s_block_of AS k WHERE k.rid = @rid
