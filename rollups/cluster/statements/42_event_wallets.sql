-- Each wallet of an event counts at the first of the event's markets that it traded, in the order of their ids.
SELECT market, COUNT(*) AS wallets
FROM (
  SELECT MIN(h.market) AS market
  FROM holding AS h
  JOIN event AS e ON e.market = h.market
  GROUP BY h.wallet, e.event
) AS first_of
GROUP BY market
