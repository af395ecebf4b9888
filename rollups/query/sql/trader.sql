-- One wallet's fills, as of a batch. Facts are stored in order of time, so each of these
-- statements reads the whole column of wallets. They are used while the files in wallet order are
-- not available.

-- name: FactsBetween
-- The facts of a range of time, and others of its first and last second. Zone maps know seconds, and not ts.
(FROM fills WHERE seconds BETWEEN @lo // 1000000 AND @hi // 1000000)

-- name: WalletFills
-- The newest first, in the order of serving.Fill.Compare, after a position in that order. Token
-- ids are looked up only for rows that can be in the result: all rows with the time of the
-- position, and as many as are requested of those before it.
WITH own AS MATERIALIZED (
  SELECT wallet, ts, tx, log_index, token, side, role, repeat, shares, usd, fee
  FROM @fills AS f
  WHERE wallet = @wallet AND batch <= @batch AND ts <= @ts
),
near AS MATERIALIZED (
  FROM own WHERE ts >= (SELECT coalesce(min(ts), @ts) FROM (SELECT ts FROM own WHERE ts < @ts ORDER BY ts DESC LIMIT @limit) AS n)
)
SELECT n.wallet, n.ts, n.tx, coalesce(n.log_index, -1) AS log_index, n.token, n.side, n.role, n.repeat, n.shares, n.usd, n.fee
FROM near AS n
JOIN tokens AS t ON t.token = n.token
WHERE (n.ts, coalesce(n.tx, ''::BLOB), n.side, n.shares, n.usd, t.token_id, coalesce(n.log_index, 2147483647), n.repeat) <
    (@ts, unhex('@tx'), @side, @shares, @usd, coalesce((SELECT token_id FROM tokens WHERE token = @token), ''), @place, @repeat)
ORDER BY n.ts DESC, coalesce(n.tx, ''::BLOB) DESC, n.side DESC, n.shares DESC, n.usd DESC, t.token_id DESC,
  coalesce(n.log_index, 2147483647) DESC, n.repeat DESC
LIMIT @limit

-- name: WalletTokens
-- No wallet holds more tokens than there are, so the limit is never reached.
SELECT token, count(*) AS fills, coalesce(SUM(shares) FILTER (side = 0), 0)::BIGINT AS buy_shares,
  coalesce(SUM(shares) FILTER (side = 1), 0)::BIGINT AS sell_shares, coalesce(SUM(fee) FILTER (side = 0 AND fee > 0), 0)::BIGINT AS fee_shares,
  coalesce(SUM(usd) FILTER (side = 0), 0)::BIGINT AS buy_usd, coalesce(SUM(usd) FILTER (side = 1), 0)::BIGINT AS sell_usd,
  coalesce(SUM(abs(fee)) FILTER (side = 1 OR fee < 0), 0)::BIGINT AS fee_usd, min(ts) AS first_ts, max(ts) AS last_ts
FROM fills
WHERE wallet = @wallet AND batch <= @batch
GROUP BY token
ORDER BY token
LIMIT 100000000

-- name: WalletDays
SELECT (seconds // 86400)::INTEGER AS day, count(*) AS fills, coalesce(SUM(usd) FILTER (side = 0), 0)::BIGINT AS buy_usd,
  coalesce(SUM(usd) FILTER (side = 1), 0)::BIGINT AS sell_usd, coalesce(SUM(abs(fee)) FILTER (side = 1 OR fee < 0), 0)::BIGINT AS fee_usd
FROM fills
WHERE wallet = @wallet AND batch <= @batch
GROUP BY day
ORDER BY day
LIMIT 100000

-- name: WalletsByAddress
-- Wallets whose address is in a range, in order of address.
SELECT address FROM wallets WHERE address BETWEEN unhex('@lo') AND unhex('@hi') ORDER BY address LIMIT @limit

-- name: WalletsByName
-- Wallets whose name begins with a text, ignoring case.
SELECT w.address
FROM (SELECT wallet, name FROM wallet_names WHERE starts_with(lower(name), lower(decode(unhex('@prefix'))))) AS n
JOIN wallets AS w ON w.wallet = n.wallet
ORDER BY lower(n.name), n.name, w.address
LIMIT @limit
