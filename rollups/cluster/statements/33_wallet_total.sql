SELECT d.wallet, d.fills, d.maker_fills, d.taker_fills, d.buy_usd, d.sell_usd, d.fee_usd, d.days,
  h.markets, h.resolved_markets, h.winning_markets, h.negative_legs, h.unmapped_fills, h.redemption, h.unresolved_cash,
  d.first_ts, d.last_ts
FROM (
  SELECT wallet, CAST(SUM(fills) AS BIGINT) AS fills, CAST(SUM(maker_fills) AS BIGINT) AS maker_fills,
    CAST(SUM(taker_fills) AS BIGINT) AS taker_fills, CAST(SUM(buy_usd) AS BIGINT) AS buy_usd, CAST(SUM(sell_usd) AS BIGINT) AS sell_usd,
    CAST(SUM(fee_usd) AS BIGINT) AS fee_usd, COUNT(*) AS days, MIN(first_ts) AS first_ts, MAX(last_ts) AS last_ts
  FROM wallet_day
  GROUP BY wallet
) AS d
JOIN (
  SELECT wallet, COUNT(market) AS markets, CAST(SUM(resolved) AS BIGINT) AS resolved_markets,
    CAST(SUM(CASE WHEN resolved = 1 AND cash + redemption > 0 THEN 1 ELSE 0 END) AS BIGINT) AS winning_markets,
    CAST(SUM(negative_legs) AS BIGINT) AS negative_legs,
    CAST(SUM(CASE WHEN market IS NULL THEN fills ELSE 0 END) AS BIGINT) AS unmapped_fills,
    CAST(SUM(redemption) AS BIGINT) AS redemption,
    CAST(SUM(CASE WHEN resolved = 1 THEN 0 ELSE cash END) AS BIGINT) AS unresolved_cash
  FROM holding
  GROUP BY wallet
) AS h ON h.wallet = d.wallet
