-- Internal: what each wallet did in each token on the day on which a window begins, from then on. Of the facts, this reads those days.
SELECT s.span, f.wallet, f.token, f.side, f.role, COUNT(*) AS fills, CAST(SUM(f.usd) AS BIGINT) AS usd, CAST(SUM(f.shares) AS BIGINT) AS shares,
  CAST(SUM(f.fee_usd) AS BIGINT) AS fee_usd
FROM fill AS f
JOIN spans AS s ON s.first_day = f.day AND f.us > s.lo
GROUP BY s.span, f.wallet, f.token, f.side, f.role
