-- Orders of at least the smallest whale move: the fills of one wallet, token and side in one
-- transaction in which it was no maker.
-- Day: ts / 86400000000
SELECT o.ts, o.wallet, o.token, o.side, o.tx, o.fills, o.shares, o.usd
FROM (
  SELECT us AS ts, wallet, token, side, tx, COUNT(*) AS fills, CAST(SUM(shares) AS BIGINT) AS shares, CAST(SUM(usd) AS BIGINT) AS usd
  FROM fill
  WHERE role <> 'maker'
  GROUP BY us, wallet, token, side, tx
) AS o
CROSS JOIN lake_settings AS s
WHERE o.usd >= s.whale_min_usd
