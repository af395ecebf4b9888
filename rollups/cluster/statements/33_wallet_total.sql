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
  SELECT wallet, CAST(SUM(markets) AS BIGINT) AS markets, CAST(SUM(resolved_markets) AS BIGINT) AS resolved_markets,
    CAST(SUM(winning_markets) AS BIGINT) AS winning_markets, CAST(SUM(negative_legs) AS BIGINT) AS negative_legs,
    CAST(SUM(unmapped_fills) AS BIGINT) AS unmapped_fills, CAST(SUM(redemption) AS BIGINT) AS redemption,
    CAST(SUM(unresolved_cash) AS BIGINT) AS unresolved_cash
  FROM wallet_part
  GROUP BY wallet
) AS h ON h.wallet = d.wallet
