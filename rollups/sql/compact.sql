-- Days of fills that arrived out of order. late_days counts, per day, the fills
-- that came after a later day had begun.

-- name: NoteLateDays
INSERT INTO late_days
SELECT (ts // 86400000000)::INTEGER AS day, count(*)
FROM n_fill
WHERE sign > 0 AND ts // 86400000000 < @from // 86400000000
GROUP BY day

-- name: ScatteredDay
SELECT min(day) FROM (SELECT day FROM late_days GROUP BY day HAVING SUM(fills) >= 50000) AS d

-- name: TakeDay
CREATE OR REPLACE TEMP TABLE folded AS
FROM fills WHERE seconds >= @day * 86400 AND seconds < (@day + 1) * 86400

-- name: DropDay
DELETE FROM fills WHERE seconds >= @day * 86400 AND seconds < (@day + 1) * 86400

-- name: PutDay
INSERT INTO fills SELECT * EXCLUDE (ts) FROM folded ORDER BY ts, tx, log_index, repeat

-- name: MarkDay
DELETE FROM late_days WHERE day = @day

-- name: DropFolded
DROP TABLE folded

-- name: KeySpan
-- For one rollup, given its base, its delta, its keys and the first key: the lowest key in the
-- delta, the highest key, and the number of rows of the base.
SELECT (SELECT min(@first) FROM @delta), (SELECT max(@first) FROM (SELECT @first FROM @delta UNION ALL SELECT @first FROM @base)),
  (SELECT count(*) FROM @base)

-- name: RangeRows
SELECT count(*) FROM @base WHERE @first BETWEEN @lo AND @hi

-- name: FoldRange
CREATE OR REPLACE TEMP TABLE folded AS @merged

-- name: DropBaseRange
DELETE FROM @base WHERE @range

-- name: DropDeltaRange
DELETE FROM @delta WHERE @range

-- name: PutFolded
INSERT INTO @base SELECT @stored FROM folded ORDER BY @order
