-- From staged fills to facts. s_raw holds the rows of one file in the canonical columns.

-- name: RawEmpty
CREATE OR REPLACE TEMP TABLE s_raw (@columns)

-- name: RawFromQuery
CREATE OR REPLACE TEMP TABLE s_raw AS @query

-- name: NumberUnread
-- Lines that DuckDB could not read have no number. They get the numbers that no other line has;
-- since nothing of them was read, it does not matter which line gets which.
UPDATE s_raw SET row = m.number
FROM (SELECT u.id, f.number
  FROM (SELECT rowid AS id, row_number() OVER (ORDER BY rowid) AS nth FROM s_raw WHERE row IS NULL) AS u
  JOIN (SELECT number, row_number() OVER (ORDER BY number) AS nth
    FROM (SELECT unnest(range(1, (SELECT count(*) + 1 FROM s_raw))) AS number EXCEPT SELECT row FROM s_raw WHERE row IS NOT NULL)) AS f USING (nth)) AS m
WHERE s_raw.rowid = m.id

-- name: RawCount
SELECT count(*), count(block), count(*) FILTER (starts_with(token, 'c:') OR starts_with(token, 'g:')),
  (SELECT count(*) FROM block_times), count(*) FILTER (ts IS NULL), count(condition) > 0, bool_or(name <> '') IS TRUE
FROM s_raw

-- name: LateBlocks
SELECT count(*) FROM block_times

-- name: UnknownOrder
-- The order in which equal fills of a file without log indexes are numbered. It is not the order
-- of their rows, because other files have them in another order.
CASE role WHEN 1 THEN 0 WHEN 0 THEN 1 ELSE 2 END, coalesce(fee, 0) < 0 DESC, abs(coalesce(fee, 0)) DESC

-- name: ResolveReferences
-- Fills that name their market and outcome get the token that a source gives for it. A token
-- derived from a label is not used, because it may be revoked. If there are several tokens, the
-- one with the smallest id is used, as in Releasable.
UPDATE s_raw SET token = k.token_id
FROM (
  SELECT 'c:' || lower(hex(m.condition)) || ':' || t.outcome AS reference, min(t.token_id) AS token_id
  FROM tokens AS t JOIN markets AS m ON m.market = t.market
  WHERE t.derived IS NOT TRUE
  GROUP BY 1
  UNION ALL
  SELECT 'g:' || m.gamma_id || ':' || t.outcome, min(t.token_id)
  FROM tokens AS t JOIN markets AS m ON m.market = t.market
  WHERE m.gamma_id IS NOT NULL AND t.derived IS NOT TRUE
  GROUP BY 1
) AS k
WHERE s_raw.token = k.reference

-- name: Reason
CASE
  WHEN reject IS NOT NULL THEN reject
  WHEN wallet IS NULL THEN 'bad_wallet'
  WHEN token IS NULL THEN 'bad_token'
  WHEN side IS NULL THEN 'bad_side'
  WHEN ts IS NULL AND block IS NOT NULL THEN 'unknown_block'
  WHEN ts IS NULL OR ts < 1577836800000000 THEN 'bad_time'
  WHEN ts > @latest THEN 'future_time'
  WHEN shares IS NULL OR shares < 0 OR shares > 1000000000000000 THEN 'bad_size'
  WHEN usd IS NULL OR usd < 0 OR usd > 1000000000000000 THEN 'bad_amount'
  WHEN fee NOT BETWEEN -1000000000000000 AND 1000000000000000 OR fee < 0 AND side <> 0 THEN 'bad_fee'
END

-- name: BadRows
SELECT coalesce(row, rowid + 1) AS row, @reason AS reason FROM s_raw WHERE @reason IS NOT NULL

-- name: DropBadRows
DELETE FROM s_raw WHERE @reason IS NOT NULL

-- name: NewWallets
INSERT INTO wallets
SELECT (SELECT coalesce(max(wallet) + 1, 0) FROM wallets) + row_number() OVER (ORDER BY first_row, address) - 1, address
FROM (SELECT wallet AS address, min(coalesce(row, rowid + 1)) AS first_row FROM s_raw GROUP BY wallet) AS seen
WHERE NOT EXISTS (SELECT 1 FROM wallets AS w WHERE w.address = seen.address)

-- name: NewTokens
-- Tokens first seen in a fill. Their market is set by n_map or later.
INSERT INTO tokens (token, token_id)
SELECT (SELECT coalesce(max(token) + 1, 0) FROM tokens) + row_number() OVER (ORDER BY first_row, token_id) - 1,
  token_id
FROM (SELECT token AS token_id, min(coalesce(row, rowid + 1)) AS first_row FROM s_raw
  WHERE NOT starts_with(token, 'c:') AND NOT starts_with(token, 'g:') GROUP BY token) AS seen
WHERE NOT EXISTS (SELECT 1 FROM tokens AS t WHERE t.token_id = seen.token_id)

-- name: Wait
-- Fills whose market is not described yet are kept until it is.
INSERT INTO waiting_fills
SELECT tx, log_index, ts, wallet, role, token, side, shares, usd, coalesce(fee, 0), repeat
FROM (
  SELECT *, CASE WHEN @collapse THEN 1 ELSE row_number() OVER (
      PARTITION BY tx, ts, wallet, token, side, shares, usd, @time ORDER BY log_index NULLS LAST, coalesce(row, rowid + 1)) END AS repeat
  FROM s_raw WHERE starts_with(token, 'c:') OR starts_with(token, 'g:')
) AS n
WHERE NOT EXISTS (
  SELECT 1 FROM waiting_fills AS w
  WHERE w.tx IS NOT DISTINCT FROM n.tx AND w.ts = n.ts AND w.wallet = n.wallet AND w.token = n.token
    AND w.side = n.side AND w.shares = n.shares AND w.usd = n.usd AND w.repeat = n.repeat
    AND w.log_index IS NOT DISTINCT FROM n.log_index
    -- Rows that differ in these columns are merged when they are released.
    AND w.role = n.role AND w.fee = coalesce(n.fee, 0)
)

-- name: DropWaiting
DELETE FROM s_raw WHERE starts_with(token, 'c:') OR starts_with(token, 'g:')

-- name: Interned
-- A log index without its transaction does not identify a log. Every wallet and token has its id
-- by now, so outer joins give the same rows as inner ones; facts refuse a fill without. DuckDB takes
-- wallets and tokens that were added in this transaction for none: of inner joins it would expect
-- few rows, hash all fills instead of the wallets or tokens, and give the fills in another order.
CREATE OR REPLACE TEMP TABLE s_fill AS
SELECT coalesce(r.row, r.rowid + 1) AS row, r.tx, CASE WHEN r.tx IS NOT NULL THEN r.log_index END AS log_index, r.ts, w.wallet, t.token,
  r.side, r.role, r.shares, r.usd, coalesce(r.fee, 0) AS fee, 1::SMALLINT AS repeat, r.block, false AS lost, @time AS said
FROM s_raw AS r
LEFT JOIN @wallets AS w ON w.address = r.wallet
LEFT JOIN @tokens AS t ON t.token_id = r.token

-- name: DimensionCounts
SELECT (SELECT count(*) FROM wallets), (SELECT count(*) FROM tokens)

-- name: StagedWallets
SELECT wallet FROM s_raw GROUP BY wallet ORDER BY min(coalesce(row, rowid + 1)), wallet

-- name: StagedTokens
SELECT token FROM s_raw GROUP BY token ORDER BY min(coalesce(row, rowid + 1)), token

-- name: MemoryEmpty
CREATE OR REPLACE TEMP TABLE s_wallet (wallet INTEGER, address BLOB)

-- name: MemoryTokensEmpty
CREATE OR REPLACE TEMP TABLE s_token (token INTEGER, token_id VARCHAR)

-- name: AddWallets
INSERT INTO wallets SELECT wallet, address FROM s_wallet WHERE wallet >= @first ORDER BY wallet

-- name: AddTokens
INSERT INTO tokens (token, token_id) SELECT token, token_id FROM s_token WHERE token >= @first ORDER BY token

-- name: Suspect
AND hash(tx, ts, wallet, token, side, shares, usd) IN (SELECT h FROM s_suspect)

-- name: SuspectRepeats
CREATE OR REPLACE TEMP TABLE s_suspect AS
SELECT h FROM (SELECT hash(tx, ts, wallet, token, side, shares, usd) AS h FROM s_fill) AS k GROUP BY h HAVING count(*) > 1

-- name: NumberRepeats
UPDATE s_fill SET repeat = k.n
FROM (
  SELECT rowid AS id, row_number() OVER (
    PARTITION BY tx, ts, wallet, token, side, shares, usd ORDER BY log_index NULLS LAST, @order, row, rowid) AS n
  FROM s_fill
  WHERE hash(tx, ts, wallet, token, side, shares, usd) IN (SELECT h FROM s_suspect)
) AS k
WHERE s_fill.rowid = k.id AND k.n > 1

-- name: RepeatsEmpty
CREATE OR REPLACE TEMP TABLE s_repeat (tx BLOB, log_index INTEGER, repeat SMALLINT)

-- name: NumberLogged
UPDATE s_fill SET repeat = k.repeat FROM s_repeat AS k WHERE s_fill.log_index = k.log_index AND s_fill.tx = k.tx

-- name: NumberApart
-- The same if blocks give some rows of the file another time than their own, or their only time.
-- Rows with the same time of their own are numbered separately, together with those of them that
-- have a log index, so it does not matter when the times of the blocks are imported.
UPDATE s_fill SET repeat = k.n
FROM (
  SELECT rowid AS id, CASE WHEN log_index IS NOT NULL THEN dense_rank() OVER (same ORDER BY log_index)
    ELSE count(DISTINCT log_index) OVER same + row_number() OVER (
      PARTITION BY tx, ts, wallet, token, side, shares, usd, said, log_index IS NULL ORDER BY @order, row, rowid) END AS n
  FROM s_fill
  WHERE hash(tx, ts, wallet, token, side, shares, usd) IN (SELECT h FROM s_suspect)
  WINDOW same AS (PARTITION BY tx, ts, wallet, token, side, shares, usd, said)
) AS k
WHERE s_fill.rowid = k.id AND k.n > 1

-- name: DropRepeats
DELETE FROM s_fill WHERE repeat > 1 AND log_index IS NULL

-- name: DayRanges
-- The batch's days as ranges without gaps, so that only facts of these days are compared.
SELECT min(day) * 86400000000 AS lo, (max(day) + 1) * 86400000000 AS hi
FROM (
  SELECT day, day - row_number() OVER (ORDER BY day) AS island FROM (SELECT DISTINCT ts // 86400000000 AS day FROM s_fill) AS d
) AS k
GROUP BY island
ORDER BY lo

-- name: Known
-- Facts that may be the same fill as a staged one, and lost fills.
CREATE OR REPLACE TEMP TABLE e_fill AS
SELECT f.*
FROM (@ranges) AS f
SEMI JOIN s_fill AS s
  ON s.ts = f.ts AND s.wallet = f.wallet AND s.token = f.token AND s.side = f.side AND s.shares = f.shares
  AND s.usd = f.usd AND s.tx IS NOT DISTINCT FROM f.tx
UNION
SELECT f.*
FROM (@ranges) AS f
SEMI JOIN s_fill AS s ON s.tx = f.tx AND s.log_index = f.log_index

-- name: KnownOfTransactions
-- The same if every staged fill has a transaction: the facts of these transactions are read once.
CREATE OR REPLACE TEMP TABLE e_fill AS
WITH same AS MATERIALIZED (
  SELECT f.* FROM (@ranges) AS f SEMI JOIN s_fill AS s ON s.tx = f.tx
)
SELECT f.*
FROM same AS f
SEMI JOIN s_fill AS s
  ON s.ts = f.ts AND s.wallet = f.wallet AND s.token = f.token AND s.side = f.side AND s.shares = f.shares
  AND s.usd = f.usd AND s.tx = f.tx
UNION
SELECT f.*
FROM same AS f
SEMI JOIN s_fill AS s ON s.tx = f.tx AND s.log_index = f.log_index

-- name: AnyOfTransactions
-- Whether there is any fact of the transactions of the staged fills. New transactions have none,
-- and then no other query is needed.
SELECT count(*) > 0 FROM (SELECT 1 FROM (@ranges) AS f SEMI JOIN s_fill AS s ON s.tx = f.tx LIMIT 1) AS k

-- name: TransactionsOfDay
-- A hash has 32 bytes; no staged one equals a value of another length.
SELECT tx FROM fills WHERE seconds BETWEEN @lo // 1000000 AND @hi // 1000000 AND ts >= @lo AND ts < @hi AND octet_length(tx) = 32
UNION ALL SELECT tx FROM lost_fills WHERE octet_length(tx) = 32

-- name: Provisional
-- Facts without a log index that were imported from a file of this name, of transactions whose
-- fills are all staged with their log indexes.
CREATE OR REPLACE TEMP TABLE s_provisional AS
SELECT f.*
FROM (@ranges) AS f SEMI JOIN s_fill AS s ON s.tx = f.tx AND s.log_index IS NOT NULL
WHERE f.log_index IS NULL AND NOT f.lost
  AND f.rid IN (SELECT rowid FROM fills WHERE batch IN (SELECT batch FROM batches WHERE file = @name))

-- name: KnownProvisional
INSERT INTO e_fill SELECT * FROM s_provisional WHERE rid NOT IN (SELECT rid FROM e_fill)

-- name: NoneKnown
CREATE OR REPLACE TEMP TABLE e_fill AS
SELECT rowid AS rid, ts, wallet, token, side, role, shares, usd, fee, tx, log_index, repeat, block, false AS lost FROM fills WHERE false

-- name: KnownRange
-- Zone maps know seconds, and not ts.
SELECT rowid AS rid, ts, wallet, token, side, role, shares, usd, fee, tx, log_index, repeat, block, false AS lost
FROM fills WHERE seconds BETWEEN @lo // 1000000 AND @hi // 1000000 AND ts >= @lo AND ts < @hi

-- name: LostRange
-- Lost fills, with row ids that no fact has.
SELECT -1 - rowid AS rid, ts, wallet, token, side, role, shares, usd, fee, tx, log_index, 1::SMALLINT AS repeat, block, true AS lost
FROM lost_fills

-- name: Replacing
-- A log replaces one equal fill without a log index, as a fill that may have the fee and the
-- role, or as a lost one.
CREATE OR REPLACE TEMP TABLE s_replace AS
SELECT n.id, o.rid, o.repeat, o.role, o.fee, o.block, NULL::TINYINT AS next_role, NULL::BIGINT AS next_fee
FROM (
  SELECT *, row_number() OVER (PARTITION BY tx, ts, wallet, token, side, shares, usd ORDER BY log_index, row) AS nth
  FROM (@newlogs) AS s
) AS n
JOIN (
  SELECT *, row_number() OVER (PARTITION BY tx, ts, wallet, token, side, shares, usd ORDER BY repeat) AS nth
  FROM e_fill WHERE log_index IS NULL
) AS o
  ON o.nth = n.nth AND o.tx = n.tx AND o.ts = n.ts AND o.wallet = n.wallet AND o.token = n.token
  AND o.side = n.side AND o.shares = n.shares AND o.usd = n.usd

-- name: NewLogs
-- Staged logs whose content is new. A log with known content has replaced its fill before.
SELECT s.rowid AS id, s.* FROM s_fill AS s
ANTI JOIN e_fill AS e ON e.tx = s.tx AND e.log_index = s.log_index AND e.ts = s.ts AND e.wallet = s.wallet AND e.token = s.token
  AND e.side = s.side AND e.shares = s.shares AND e.usd = s.usd
WHERE s.log_index IS NOT NULL

-- name: Absorbed
-- Fills without a log index that equal a lost fill.
SELECT count(*) FROM s_replace WHERE id IN (SELECT rowid FROM s_fill WHERE lost)

-- name: ReplacingRoles
-- Equal fills without a log index for which two files give different roles or fees. Maker takes
-- precedence over unknown, and unknown over taker, which some feeds only assume; fees are chosen
-- as in BetterFee. So the order of files does not matter. If there are several, they are numbered
-- in each file by role and fee.
INSERT INTO s_replace
SELECT * FROM (
  SELECT s.rowid AS id, o.rid, o.repeat, o.role, o.fee, o.block,
    CASE WHEN 1 IN (s.role, o.role) THEN 1 WHEN 0 IN (s.role, o.role) THEN 0 ELSE 2 END::TINYINT AS next_role,
    @fee AS next_fee
  FROM s_fill AS s
  JOIN e_fill AS o ON o.tx IS NOT DISTINCT FROM s.tx AND o.ts = s.ts AND o.wallet = s.wallet AND o.token = s.token
    AND o.side = s.side AND o.shares = s.shares AND o.usd = s.usd AND o.repeat = s.repeat
  WHERE s.log_index IS NULL AND o.log_index IS NULL AND (s.role <> o.role OR s.fee <> o.fee)
) AS k
WHERE (next_role <> role OR next_fee <> fee) AND rid NOT IN (SELECT rid FROM s_replace)

-- name: DropKnown
-- Of equal rows without a log index, the larger count is used: only rows beyond the known number
-- are kept. Known are also rows of this batch with a log index.
DELETE FROM s_fill WHERE log_index IS NULL AND rowid IN (
  SELECT s.rowid
  FROM s_fill AS s
  JOIN (
    SELECT tx, ts, wallet, token, side, shares, usd, count(*) AS known
    FROM (
      SELECT tx, ts, wallet, token, side, shares, usd FROM e_fill
      UNION ALL
      SELECT tx, ts, wallet, token, side, shares, usd FROM (@newlogs) AS n
      WHERE id NOT IN (SELECT id FROM s_replace)
    ) AS all_known
    GROUP BY tx, ts, wallet, token, side, shares, usd
  ) AS k
    ON k.tx IS NOT DISTINCT FROM s.tx AND k.ts = s.ts AND k.wallet = s.wallet AND k.token = s.token
    AND k.side = s.side AND k.shares = s.shares AND k.usd = s.usd
  WHERE s.log_index IS NULL AND s.repeat <= k.known
    AND s.rowid NOT IN (SELECT id FROM s_replace WHERE next_role IS NOT NULL)
)

-- name: SignedFresh
-- Nothing staged is known, so the batch is what was staged.
CREATE OR REPLACE TEMP VIEW n_fill AS
SELECT row, 1::TINYINT AS sign, ts, wallet, token, side, role, shares, usd, fee, tx, log_index, repeat, block, NULL::BIGINT AS rid
FROM s_fill WHERE NOT lost

-- name: SignedReplacing
CREATE OR REPLACE TEMP TABLE n_fill_rows AS
SELECT s.row, 1::TINYINT AS sign, s.ts, s.wallet, s.token, s.side, coalesce(@rank, r.next_role, s.role)::TINYINT AS role, s.shares, s.usd,
  coalesce(k.fee, r.next_fee, s.fee) AS fee, s.tx, s.log_index,
  coalesce(CASE WHEN k.equal THEN k.repeat END, r.repeat, s.repeat) AS repeat, coalesce(s.block, r.block, CASE WHEN k.equal THEN k.block END) AS block,
  NULL::BIGINT AS rid
FROM s_fill AS s LEFT JOIN s_replace AS r ON r.id = s.rowid LEFT JOIN s_known AS k ON k.id = s.rowid
WHERE NOT s.lost
UNION ALL
SELECT s.row, -1, o.ts, o.wallet, o.token, o.side, o.role, o.shares, o.usd, o.fee, o.tx, o.log_index, o.repeat, o.block, o.rid
FROM (SELECT id, rid FROM s_replace UNION ALL SELECT id, rid FROM s_known WHERE stands) AS r
JOIN s_fill AS s ON s.rowid = r.id JOIN e_fill AS o ON o.rid = r.rid

-- name: RetractProvisional
-- Those that equal none of the staged ones are removed.
INSERT INTO n_fill_rows
SELECT 0, -1, f.ts, f.wallet, f.token, f.side, f.role, f.shares, f.usd, f.fee, f.tx, f.log_index, f.repeat, f.block, f.rid
FROM s_provisional AS f WHERE f.rid NOT IN (SELECT rid FROM n_fill_rows WHERE sign < 0)

-- name: SignedView
CREATE OR REPLACE TEMP VIEW n_fill AS FROM n_fill_rows

-- name: NoFills
CREATE OR REPLACE TEMP VIEW n_fill AS
SELECT 0::BIGINT AS row, 1::TINYINT AS sign, ts, wallet, token, side, role, shares, usd, fee, tx, log_index, repeat, block,
  NULL::BIGINT AS rid
FROM fills WHERE false

-- name: Unsorted
SELECT count(*) > 0 FROM (SELECT ts < lag(ts) OVER () AS back FROM s_fill) AS k WHERE back

-- name: RemoveReplaced
DELETE FROM fills WHERE rowid IN (SELECT rid FROM n_fill WHERE sign < 0)

-- name: AddFills
INSERT INTO fills
SELECT ts // 1000000, ts % 1000000, wallet, token, side, role, shares, usd, fee, tx, log_index, repeat, @batch + (@member), block
FROM n_fill WHERE sign > 0@order

-- name: BatchFigures
-- For the batch, or for each of its files.
SELECT @member AS member, count(*) FILTER (f.sign > 0), count(*) FILTER (f.sign < 0), min(f.ts), max(f.ts),
  coalesce(sum(CASE WHEN f.sign > 0 AND f.side = 0 THEN f.usd END), 0)::BIGINT,
  coalesce(sum(CASE WHEN f.sign > 0 AND f.side = 1 THEN f.usd END), 0)::BIGINT
FROM n_fill AS f@group

-- name: UnmappedInBatch
SELECT @member AS member, count(*) FROM n_fill AS f JOIN tokens AS t ON t.token = f.token WHERE f.sign > 0 AND t.market IS NULL@group

-- name: UnmappedOfFiles
-- UnmappedInBatch for files of which a later one may say the market.
SELECT @member AS member, count(*) FROM n_fill AS f JOIN tokens AS t ON t.token = f.token LEFT JOIN n_first AS n ON n.token = f.token AND n.unmapped
WHERE f.sign > 0 AND (t.market IS NULL OR (@member) < n.member)@group

-- name: RecordsByMember
SELECT @member AS member, max(row & ((1::BIGINT << @shift) - 1)) FROM @staged GROUP BY ALL

-- name: StagedByMember
SELECT @member AS member, count(*) FROM s_fill GROUP BY ALL

-- name: EqualAcrossMembers
-- Equal rows of several files. Which of them are the same fill can only be told by importing one
-- file after another.
SELECT count(*) > 0 FROM (
  SELECT 1 FROM s_fill
  WHERE hash(tx, ts, wallet, token, side, shares, usd) IN (SELECT h FROM s_suspect)
  GROUP BY tx, ts, wallet, token, side, shares, usd HAVING min(@member) <> max(@member)
) AS k

-- name: Names
-- The newest user name of each wallet in the file; of several at the same time, the last in
-- alphabetical order.
CREATE OR REPLACE TEMP TABLE n_name AS
SELECT w.wallet, arg_max(r.name, (r.ts, r.name)) AS name, max(r.ts) AS ts
FROM @named AS r JOIN @wallets AS w ON w.@key = r.wallet
WHERE r.name IS NOT NULL AND r.name <> ''
GROUP BY w.wallet

-- name: DropOldNames
-- A name that is given again later is newer than one that was given in between, so the time is
-- compared as well.
DELETE FROM n_name WHERE EXISTS (SELECT 1 FROM wallet_names AS w WHERE w.wallet = n_name.wallet
  AND (w.ts, w.name) >= (n_name.ts, n_name.name))

-- name: ReplaceNames
DELETE FROM wallet_names WHERE wallet IN (SELECT wallet FROM n_name)

-- name: AddNames
INSERT INTO wallet_names SELECT wallet, name, ts FROM n_name

-- name: RecordImport
INSERT INTO batches VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)

-- name: NextBatch
-- NULL if the log has none from @from on.
SELECT max(batch) + 1 FROM batches WHERE batch >= @from

-- name: FactCount
SELECT count(*) FROM fills

-- name: Releasable
-- Waiting fills whose market is now known.
CREATE OR REPLACE TEMP TABLE s_raw AS
SELECT row_number() OVER () AS row, w.tx, w.log_index, NULL::BIGINT AS block, w.ts, w.wallet, w.role, k.token_id AS token,
  NULL::BLOB AS condition, NULL::TINYINT AS outcome, w.side, w.shares, w.usd, w.fee, NULL::VARCHAR AS name,
  NULL::VARCHAR AS reject, w.token AS reference, w.repeat
FROM waiting_fills AS w
JOIN (
  SELECT 'c:' || lower(hex(m.condition)) || ':' || t.outcome AS reference, min(t.token_id) AS token_id
  FROM tokens AS t JOIN markets AS m ON m.market = t.market WHERE t.derived IS NOT TRUE GROUP BY 1
  UNION ALL
  SELECT 'g:' || m.gamma_id || ':' || t.outcome, min(t.token_id)
  FROM tokens AS t JOIN markets AS m ON m.market = t.market WHERE m.gamma_id IS NOT NULL AND t.derived IS NOT TRUE GROUP BY 1
) AS k ON k.reference = w.token

-- name: WaitingCount
SELECT count(*) FROM waiting_fills

-- name: ReleaseRepeats
UPDATE s_fill SET repeat = r.repeat FROM s_raw AS r WHERE r.row = s_fill.row

-- name: DropReleased
DELETE FROM waiting_fills WHERE token IN (SELECT DISTINCT reference FROM s_raw)

-- name: NoNames
CREATE OR REPLACE TEMP TABLE n_name (wallet INTEGER, name VARCHAR, ts BIGINT)

-- name: DropNumberedTwice
-- The same fill may have waited under its market's condition and its Gamma id, or with several
-- times that turned out to be the same.
DELETE FROM s_fill WHERE rowid IN (
  SELECT id FROM (
    SELECT rowid AS id, row_number() OVER (
      PARTITION BY tx, ts, wallet, token, side, shares, usd, repeat, log_index ORDER BY row) AS n
    FROM s_fill
  ) AS k WHERE n > 1
)
