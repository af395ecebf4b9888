-- What takers traded of each token in each hour, and at which prices. A fill's price and its
-- position in time are one number, as in price.sql: the smallest and the largest of an hour are
-- its first and its last trade. Minima are stored with their sign reversed, so that the larger
-- value of base and delta is always the right one.

-- name: DeltaCandle
-- A fill of no tokens has no price.
SELECT token, hour, SUM(sign) AS fills, SUM(sign * usd) AS usd, SUM(sign * shares) AS shares,
  max(-place) AS opened, max(paid) AS highest, max(-paid) AS lowest, max(place) AS closed
FROM (
  SELECT f.* FROM (
    SELECT token, (ts // 3600000000)::INTEGER AS hour, sign, usd, shares,
      CASE WHEN shares > 0 THEN @paid END AS paid, CASE WHEN shares > 0 THEN @price END AS place
    FROM n_fill
    WHERE role <> 1
  ) AS f
  @candlesredone
) AS f
GROUP BY token, hour

-- name: CandlesRedone
-- Hours that lose a fill are computed from all remaining fills, and not from the batch alone.
ANTI JOIN candle_again AS a ON a.token = f.token AND a.hour = f.hour
UNION ALL
FROM candle_redone

-- name: CandlesAgain
-- The hours from which the batch removes a fill: an extreme cannot be subtracted.
CREATE OR REPLACE TEMP TABLE candle_again AS
SELECT DISTINCT token, (ts // 3600000000)::INTEGER AS hour FROM n_fill WHERE sign < 0 AND role <> 1

-- name: CandleSpans
-- The times of these hours, as a condition: ranges of days without gaps, or the whole span if
-- there are many ranges.
WITH island AS (
  SELECT min(hour) AS lo, max(hour) AS hi
  FROM (SELECT hour, hour // 24 - dense_rank() OVER (ORDER BY hour // 24) AS island FROM candle_again) AS h
  GROUP BY island
),
span AS (
  SELECT lo, hi FROM island WHERE (SELECT count(*) FROM island) <= 32
  UNION ALL
  SELECT min(lo), max(hi) FROM island HAVING count(*) > 32
)
SELECT string_agg('seconds BETWEEN ' || lo * 3600::BIGINT || ' AND ' || (hi + 1) * 3600::BIGINT - 1, ' OR ' ORDER BY lo)
FROM span

-- name: ForgetCandles
DELETE FROM @candles AS c WHERE EXISTS (FROM candle_again AS a WHERE a.token = c.token AND a.hour = c.hour)

-- name: CandlesLeft
-- The facts of these hours, which already include those of the batch.
CREATE OR REPLACE TEMP TABLE candle_redone AS
SELECT f.* FROM (
  SELECT token, (ts // 3600000000)::INTEGER AS hour, 1 AS sign, usd, shares,
    CASE WHEN shares > 0 THEN @paid END AS paid, CASE WHEN shares > 0 THEN @price END AS place
  FROM fills
  WHERE role <> 1 AND (@spans)
) AS f
SEMI JOIN candle_again AS a ON a.token = f.token AND a.hour = f.hour
