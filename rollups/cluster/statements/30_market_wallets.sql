SELECT market, COUNT(*) AS wallets FROM holding WHERE market IS NOT NULL GROUP BY market
