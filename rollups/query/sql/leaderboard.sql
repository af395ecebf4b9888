-- Wallets in windows of time, by category.

-- name: LeaderboardSums
-- What wallets traded in a stretch of time, and the part of it in markets that are not resolved; what markets paid, by
-- the time of their resolution; and what markets resolved at an unknown time pay, by the wallet's
-- last trade in them.
SELECT category, wallet, SUM(fills)::BIGINT AS fills, SUM(buy)::BIGINT AS buy_usd, SUM(sell)::BIGINT AS sell_usd, SUM(fee)::BIGINT AS fee_usd,
  SUM(unresolved)::BIGINT AS unresolved, SUM(redemption)::BIGINT AS redemption, SUM(undated)::BIGINT AS undated,
  SUM(undated_markets)::BIGINT AS undated_markets
FROM (
  SELECT coalesce(m.category, '') AS category, f.wallet, count(*) AS fills, SUM(CASE f.side WHEN 0 THEN f.usd ELSE 0 END) AS buy,
    SUM(CASE f.side WHEN 1 THEN f.usd ELSE 0 END) AS sell, SUM(CASE WHEN f.side = 1 OR f.fee < 0 THEN abs(f.fee) ELSE 0 END) AS fee,
    SUM(CASE WHEN m.payouts IS NULL THEN CASE f.side WHEN 1 THEN f.usd ELSE -f.usd END - CASE WHEN f.side = 1 OR f.fee < 0 THEN abs(f.fee) ELSE 0 END
      ELSE 0 END) AS unresolved, 0 AS redemption, 0 AS undated, 0 AS undated_markets
  FROM @fills AS f
  LEFT JOIN tokens AS t ON t.token = f.token
  LEFT JOIN markets AS m ON m.market = t.market
  WHERE f.ts > @lo AND f.ts <= @hi AND f.batch <= @batch
  GROUP BY ALL
  UNION ALL
  SELECT coalesce(m.category, ''), r.wallet, 0, 0, 0, 0, 0, r.usd, 0, 0
  FROM (SELECT resolved_at, market, wallet, usd FROM redemption UNION ALL SELECT resolved_at, market, wallet, usd FROM redemption_delta) AS r
  LEFT JOIN markets AS m ON m.market = r.market
  WHERE r.resolved_at > @lo AND r.resolved_at <= @hi
  UNION ALL
  SELECT coalesce(m.category, ''), u.wallet, 0, 0, 0, 0, 0, 0, u.usd, u.markets
  FROM (SELECT last_ts, market, wallet, usd, markets FROM undated UNION ALL SELECT last_ts, market, wallet, usd, markets FROM undated_delta) AS u
  LEFT JOIN markets AS m ON m.market = u.market
  WHERE u.last_ts > @lo AND u.last_ts <= @hi
) AS s
GROUP BY category, wallet
ORDER BY category, wallet

-- name: LeaderboardDays
-- The profit of some wallets by day, up to a time: cash, and what markets paid on the day of
-- their resolution. What came after that time is subtracted from the last day.
SELECT wallet, day, SUM(usd)::BIGINT AS usd
FROM (
  SELECT wallet, day, sell_usd - buy_usd - fee_usd AS usd FROM wallet_day WHERE day BETWEEN @first AND @last AND @which
  UNION ALL
  SELECT wallet, day, sell_usd - buy_usd - fee_usd FROM wallet_day_delta WHERE day BETWEEN @first AND @last AND @which
  UNION ALL
  SELECT wallet, (ts // 86400000000)::INTEGER, CASE side WHEN 1 THEN fee - usd ELSE usd + greatest(-fee, 0) END
  FROM fills WHERE seconds BETWEEN @hi // 1000000 AND (@last + 1) * 86400 AND ts > @hi AND ts < (@last + 1) * 86400000000 AND @which
  UNION ALL
  SELECT wallet, (resolved_at // 86400000000)::INTEGER, usd FROM redemption WHERE resolved_at >= @first * 86400000000 AND resolved_at <= @hi AND @which
  UNION ALL
  SELECT wallet, (resolved_at // 86400000000)::INTEGER, usd FROM redemption_delta WHERE resolved_at >= @first * 86400000000 AND resolved_at <= @hi AND @which
) AS d
GROUP BY wallet, day
ORDER BY wallet, day
LIMIT 1000000
