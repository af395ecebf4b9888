-- What markets paid that were resolved at an unknown time, of wallets that traded them in the last 720 hours.
SELECT h.last_ts, h.market, h.wallet, h.redemption AS usd, 1 AS markets
FROM holding AS h
CROSS JOIN spans AS s
WHERE s.span = 2 AND h.resolved = 1 AND h.resolved_us IS NULL AND h.last_ts > s.lo
