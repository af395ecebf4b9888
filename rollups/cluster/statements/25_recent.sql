-- Internal: by window of 24, 168 and 720 hours up to the newest fill: what each wallet did in each token.
SELECT span, wallet, token, side, role, COUNT(*) AS fills, CAST(SUM(usd) AS BIGINT) AS usd, CAST(SUM(shares) AS BIGINT) AS shares,
  CAST(SUM(fee_usd) AS BIGINT) AS fee_usd
FROM (
  SELECT w.span, f.wallet, f.token, f.side, f.role, f.usd, f.shares, f.fee_usd
  FROM fill AS f
  JOIN (
    SELECT s.span, a.hi, a.hi - s.length AS lo
    FROM (
      SELECT 0 AS span, CAST(86400000000 AS BIGINT) AS length
      UNION ALL SELECT 1, CAST(604800000000 AS BIGINT)
      UNION ALL SELECT 2, CAST(2592000000000 AS BIGINT)
    ) AS s
    CROSS JOIN (SELECT MAX(last_ts) AS hi FROM token_day) AS a
  ) AS w ON f.us > w.lo AND f.us <= w.hi
) AS inside
GROUP BY span, wallet, token, side, role
