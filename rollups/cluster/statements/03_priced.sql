-- What each fill cost, and that with its place in time, as one number that grows: us x 2^52 + (log index + 1) x 2^20 + price. The price is
-- dollars by tokens in millionths, half of one rounded up, 1 at most. No engine divides as the
-- others do: a quotient in floating point is a guess, at most 1 off, which exact products settle.
SELECT us, day, token, role, price, CAST(CAST(us AS DECIMAL(19, 0)) * CAST(4503599627370496 AS DECIMAL(16, 0))
  + CAST((CAST(log_index AS BIGINT) + 1) * 1048576 + price AS DECIMAL(19, 0)) AS DECIMAL(38, 0)) AS place
FROM (
  SELECT us, day, token, role, log_index, LEAST(guess + CASE WHEN twice * CAST(guess + 1 AS DECIMAL(8, 0)) <= scaled THEN 1
    WHEN twice * CAST(guess AS DECIMAL(8, 0)) <= scaled THEN 0 ELSE -1 END, 1000000) AS price
  FROM (
    SELECT us, day, token, role, log_index,
      CAST(FLOOR(LEAST(CAST(usd AS DOUBLE) * 1000000 / CAST(shares AS DOUBLE) + CAST(0.5 AS DOUBLE), CAST(1000001 AS DOUBLE))) AS BIGINT) AS guess,
      CAST(shares AS DECIMAL(19, 0)) * CAST(2 AS DECIMAL(1, 0)) AS twice,
      CAST(usd AS DECIMAL(19, 0)) * CAST(2000000 AS DECIMAL(7, 0)) + CAST(shares AS DECIMAL(19, 0)) AS scaled
    FROM fill
    WHERE shares > 0
  ) AS q
) AS r
