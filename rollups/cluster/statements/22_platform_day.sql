SELECT t.day, t.taker_fills, t.taker_usd, t.taker_shares, t.maker_fills, t.maker_usd, t.maker_shares, w.active_wallets
FROM (
  SELECT day,
  CAST(SUM(taker_fills) AS BIGINT) AS taker_fills, CAST(SUM(taker_usd) AS BIGINT) AS taker_usd,
  CAST(SUM(taker_shares) AS BIGINT) AS taker_shares, CAST(SUM(maker_fills) AS BIGINT) AS maker_fills,
  CAST(SUM(maker_usd) AS BIGINT) AS maker_usd, CAST(SUM(maker_shares) AS BIGINT) AS maker_shares
  FROM token_day
  GROUP BY day
) AS t
JOIN (SELECT day, COUNT(*) AS active_wallets FROM wallet_day GROUP BY day) AS w ON w.day = t.day
