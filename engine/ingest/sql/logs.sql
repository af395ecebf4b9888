-- Fills with a log index. A log is one fill, so rows about the same log are merged. Of rows that
-- differ in more than role and fee, the first by LogContent is used, no matter in which order
-- they were imported; all of them are reported as a conflict. The others are kept as lost fills:
-- a fill without a log index that equals one of them is the same fill.

-- name: LogContent
-- What rows of one log are compared by. The greatest is used: the earliest, then the one with
-- more dollars, then with more shares. Numbers of tokens and wallets depend on the order of
-- imports, so their names are compared.
(-@f.ts, @f.usd, @f.shares, @f.side, t.token_id, w.address)

-- name: LogSaid
-- The contents of a row, for the file of rejected rows.
to_json(struct_pack(ts := @f.ts, address := lower(hex(w.address)), token := t.token_id, side := @f.side, role := @f.role,
  shares := @f.shares, usd := @f.usd, fee := @f.fee))::VARCHAR

-- name: RoleRank
-- A known role takes precedence over an unknown one, and maker over taker. The rank of a rank is
-- the role.
CASE @role WHEN 0 THEN 0 ELSE 3 - @role END

-- name: BetterFee
-- The better of two fees of a fill: one in dollars takes precedence over one in tokens, which
-- some feeds only assume; of two in the same unit, the larger is used.
CASE WHEN least(@a, @b) < 0 THEN least(@a, @b) ELSE greatest(@a, @b) END

-- name: BestFee
-- The same for the fees of rows.
CASE WHEN min(fee)@over < 0 THEN min(fee)@over ELSE max(fee)@over END

-- name: LogIndexes
-- Whether any row has a log index, and whether every row has one.
SELECT count(log_index) > 0, count(*) = count(log_index) FROM s_fill

-- name: SuspectLogs
-- Candidates by 64-bit hash first; only the few with equal hashes are compared exactly.
CREATE OR REPLACE TEMP TABLE s_suspect AS
SELECT h FROM (SELECT hash(tx, log_index) AS h FROM s_fill WHERE log_index IS NOT NULL) AS k GROUP BY h HAVING count(*) > 1

-- name: Logs
-- Rows of the file that share their log with another. Of equal ones, one is kept, with the best
-- role and fee of all of them; it is lost if other contents of the log take precedence.
CREATE OR REPLACE TEMP TABLE s_log AS
WITH said AS (
  SELECT s.rowid AS id, s.row, s.tx, s.log_index, s.role, s.fee, s.block, @rank AS rank, @content AS content, @said AS said
  FROM s_fill AS s JOIN wallets AS w ON w.wallet = s.wallet JOIN tokens AS t ON t.token = s.token
  WHERE s.log_index IS NOT NULL AND hash(s.tx, s.log_index) IN (SELECT h FROM s_suspect)
),
grouped AS (
  SELECT *, content = max(content) OVER log AS equal, row_number() OVER (PARTITION BY tx, log_index, content ORDER BY row, id) = 1 AS stays,
    count(*) OVER log AS rows, max(rank) OVER same AS best_rank, @bestfee AS best_fee, max(block) OVER same AS best_block
  FROM said
  WINDOW log AS (PARTITION BY tx, log_index), same AS (PARTITION BY tx, log_index, content)
)
SELECT id, row, tx, log_index, equal, stays, said,
  equal AND (role <> 0 AND rank <> best_rank OR fee <> 0 AND fee <> best_fee) AS differs,
  best_rank AS rank, best_fee AS fee, best_block AS block
FROM grouped
WHERE rows > 1

-- name: LogFigures
SELECT count(*) FILTER (NOT stays AND equal), count(*) FILTER (NOT equal), count(*) FILTER (differs) FROM s_log

-- name: MergeLogs
UPDATE s_fill SET role = @rank, fee = k.fee, block = k.block, lost = NOT k.equal FROM s_log AS k WHERE k.id = s_fill.rowid AND k.stays

-- name: DropRepeatedLogs
DELETE FROM s_fill WHERE rowid IN (SELECT id FROM s_log WHERE NOT stays)

-- name: ContestsEmpty
-- Rows that contradict another row of their file, or a known one.
CREATE OR REPLACE TEMP TABLE s_contest (row BIGINT, tx BLOB, log_index INTEGER, equal BOOLEAN, stands BOOLEAN, said VARCHAR, known VARCHAR)

-- name: ContestsInFile
INSERT INTO s_contest SELECT row, tx, log_index, equal, false, said, '' FROM s_log WHERE NOT equal OR differs

-- name: KnownLogs
-- Staged fills whose log is known.
CREATE OR REPLACE TEMP TABLE s_known AS
SELECT s.rowid AS id, s.row, s.tx, s.log_index, e.rid, e.repeat, e.block,
  s.ts = e.ts AND s.wallet = e.wallet AND s.token = e.token AND s.side = e.side AND s.shares = e.shares AND s.usd = e.usd AS equal,
  equal AND (s.role <> 0 AND e.role <> 0 AND s.role <> e.role OR s.fee <> 0 AND e.fee <> 0 AND s.fee <> e.fee) AS differs,
  greatest(@srank, @erank) AS rank, @fee AS fee,
  -- Whether the staged one replaces the known one.
  equal AND (rank <> @erank OR @fee <> e.fee) AS stands
FROM s_fill AS s JOIN e_fill AS e ON e.tx = s.tx AND e.log_index = s.log_index
WHERE NOT s.lost AND NOT e.lost
QUALIFY row_number() OVER (PARTITION BY s.rowid ORDER BY e.rid) = 1

-- name: KnownFigures
SELECT count(*) FILTER (NOT equal), count(*) FILTER (differs) FROM s_known

-- name: KnownOther
UPDATE s_known SET stands = k.stands, rank = k.rank, fee = k.fee
FROM (
  SELECT n.id, n.content > o.content AS stands, n.rank, n.fee
  FROM (
    SELECT s.rowid AS id, @ncontent AS content, @srank AS rank, s.fee
    FROM s_fill AS s JOIN wallets AS w ON w.wallet = s.wallet JOIN tokens AS t ON t.token = s.token
    WHERE s.rowid IN (SELECT id FROM s_known WHERE NOT equal)
  ) AS n
  JOIN (
    SELECT x.id, @ocontent AS content
    FROM s_known AS x JOIN e_fill AS e ON e.rid = x.rid JOIN wallets AS w ON w.wallet = e.wallet JOIN tokens AS t ON t.token = e.token
    WHERE NOT x.equal
  ) AS o ON o.id = n.id
) AS k
WHERE k.id = s_known.id

-- name: ContestsWithKnown
INSERT INTO s_contest
SELECT x.row, x.tx, x.log_index, x.equal, x.stands, n.said, o.said
FROM s_known AS x
JOIN (
  SELECT s.rowid AS id, @nsaid AS said
  FROM s_fill AS s JOIN wallets AS w ON w.wallet = s.wallet JOIN tokens AS t ON t.token = s.token
  WHERE s.rowid IN (SELECT id FROM s_known WHERE NOT equal OR differs)
) AS n ON n.id = x.id
JOIN (
  SELECT e.rid, @osaid AS said
  FROM e_fill AS e JOIN wallets AS w ON w.wallet = e.wallet JOIN tokens AS t ON t.token = e.token
  WHERE e.rid IN (SELECT rid FROM s_known WHERE NOT equal OR differs)
) AS o ON o.rid = x.rid
WHERE NOT x.equal OR x.differs

-- name: KnownLost
SELECT count(*) FILTER (NOT equal AND NOT stands), count(*) FILTER (NOT equal AND stands) FROM s_known

-- name: LoseToKnown
UPDATE s_fill SET lost = true WHERE rowid IN (SELECT id FROM s_known WHERE NOT equal AND NOT stands)

-- name: DropKnownLogs
DELETE FROM s_fill WHERE rowid IN (SELECT id FROM s_known WHERE equal AND NOT stands)

-- name: NoKnownLogs
CREATE OR REPLACE TEMP TABLE s_known (id BIGINT, rid BIGINT, repeat SMALLINT, block BIGINT, equal BOOLEAN, rank TINYINT, fee BIGINT, stands BOOLEAN)

-- name: Lost
-- The lost fills of this batch, together with known lost fills of the same logs. Equal ones are
-- merged, with the best role and fee of all of them.
CREATE OR REPLACE TEMP TABLE s_lost AS
WITH lost AS (
  SELECT s.ts, s.wallet, s.token, s.side, s.role, s.shares, s.usd, s.fee, s.tx, s.log_index, coalesce(s.block, r.block) AS block
  FROM s_fill AS s LEFT JOIN s_replace AS r ON r.id = s.rowid WHERE s.lost
  UNION ALL
  SELECT ts, wallet, token, side, role, shares, usd, fee, tx, log_index, block
  FROM e_fill WHERE rid IN (SELECT rid FROM s_known WHERE NOT equal AND stands)
)
SELECT ts, wallet, token, side, @bestrole AS role, shares, usd, @bestfee AS fee, tx, log_index, max(block) AS block
FROM (
  FROM lost
  UNION ALL
  SELECT * FROM lost_fills WHERE (tx, log_index) IN (SELECT (tx, log_index) FROM lost)
) AS l
GROUP BY ts, wallet, token, side, shares, usd, tx, log_index

-- name: DropLost
DELETE FROM lost_fills WHERE (tx, log_index) IN (SELECT (tx, log_index) FROM s_lost)

-- name: AddLost
INSERT INTO lost_fills FROM s_lost

-- name: Contests
-- A log is counted once, at its first row.
SELECT row, tx, log_index, equal, stands, said, known, row_number() OVER (PARTITION BY tx, log_index ORDER BY row, known) = 1 AS first
FROM s_contest

-- name: MergeEqual
-- Equal fills without a log index that are the same fill: of a file that repeats its pages, or
-- that waited under several names of their market, or are from several files. Role and fee are
-- chosen as between files.
UPDATE s_fill SET role = k.role, fee = k.fee, block = k.block
FROM (
  SELECT tx, ts, wallet, token, side, shares, usd@repeat, @bestfee AS fee, max(block) AS block,
    CASE WHEN bool_or(role = 1) THEN 1 WHEN bool_or(role = 0) THEN 0 ELSE 2 END AS role
  FROM s_fill WHERE log_index IS NULL @among
  GROUP BY tx, ts, wallet, token, side, shares, usd@repeat HAVING count(*) > 1
) AS k
WHERE s_fill.log_index IS NULL AND k.tx IS NOT DISTINCT FROM s_fill.tx AND k.ts = s_fill.ts AND k.wallet = s_fill.wallet
  AND k.token = s_fill.token AND k.side = s_fill.side AND k.shares = s_fill.shares AND k.usd = s_fill.usd@same
