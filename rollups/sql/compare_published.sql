-- What another engine computed, with the ids of this database.

-- name: PublishedRows
-- A name that the database does not have becomes NULL, which no row of the database has.
SELECT @columns FROM (@published) AS p@joins

-- name: NoRows
SELECT @columns WHERE false

-- name: WalletOfName
 LEFT JOIN wallets AS w ON w.address = unhex(substr(p.wallet, 3))

-- name: TokenOfName
 LEFT JOIN tokens AS t ON t.token_id = p.token

-- name: MarketOfName
 LEFT JOIN markets AS m ON m.condition = unhex(substr(p.market, 3))

-- name: ByEvent
-- Which of an event's markets a wallet counts at depends on ids; the event's own number does not.
SELECT coalesce(e.event, r.market) AS market, SUM(r.wallets) AS wallets
FROM (@rows) AS r LEFT JOIN (@events) AS e ON e.market = r.market
GROUP BY ALL

-- name: PublishedHead
SELECT as_of, stale, (SELECT min_usd FROM whale_rule) FROM rollup_state

-- name: PublishedDays
-- How many of @days (day, fills, buy_usd, sell_usd, fee_usd) differ from the sums of the
-- published days of wallets or are missing there, and how many published days are not in @days.
SELECT (SELECT count(*) FROM (VALUES @days) AS d), count(*)
FROM (SELECT day, SUM(fills) AS fills, SUM(buy_usd) AS buys, SUM(sell_usd) AS sells, SUM(fee_usd) AS fees FROM (@wallet_day) AS p GROUP BY day) AS p
FULL JOIN (VALUES @days) AS d(day, fills, buys, sells, fees) ON d.day = p.day
WHERE (p.fills, p.buys, p.sells, p.fees) IS DISTINCT FROM (d.fills, d.buys, d.sells, d.fees)
