-- One market's long texts and newest fills, and wallets' trades in an event.

-- name: MarketTexts
SELECT description, resolution_source, group_item_title, payout_source
FROM markets
WHERE market = @market
ORDER BY market
LIMIT 1

-- name: MarketFills
-- The newest first, by time and then by their position in the block, in the order of
-- serving.Fill.CompareInBlock, after a position in that order. Token ids and addresses are looked
-- up only for rows that can be in the result: all rows with the time of the position, and as many
-- as are requested of those before it.
WITH f AS MATERIALIZED (@ranges),
near AS MATERIALIZED (
  FROM f WHERE ts >= (SELECT coalesce(min(ts), @ts) FROM (SELECT ts FROM f WHERE ts < @ts ORDER BY ts DESC LIMIT @limit) AS n)
)
SELECT n.wallet, n.ts, n.tx, coalesce(n.log_index, -1) AS log_index, n.token, n.side, n.role, n.repeat, n.shares, n.usd, n.fee
FROM near AS n
JOIN tokens AS t ON t.token = n.token
JOIN wallets AS w ON w.wallet = n.wallet
WHERE @behind
ORDER BY n.ts DESC, coalesce(n.log_index, -1) DESC, coalesce(n.tx, ''::BLOB) DESC, n.side, n.shares DESC, n.usd DESC, t.token_id, n.repeat,
  w.address
LIMIT @limit

-- name: FillsBehind
-- What comes after a fill: some columns are in descending and others in ascending order.
((n.ts, coalesce(n.log_index, -1), coalesce(n.tx, ''::BLOB), 1 - n.side, n.shares, n.usd) < (@ts, @place, unhex('@tx'), 1 - @side, @shares, @usd)
  OR (n.ts, coalesce(n.log_index, -1), coalesce(n.tx, ''::BLOB), 1 - n.side, n.shares, n.usd) = (@ts, @place, unhex('@tx'), 1 - @side, @shares, @usd)
    AND (t.token_id, n.repeat, w.address) > (coalesce((SELECT token_id FROM tokens WHERE token = @token), ''), @repeat,
      coalesce((SELECT address FROM wallets WHERE wallet = @wallet), ''::BLOB)))

-- name: FillRange
-- Facts are stored in order of time: literal bounds let zone maps prune. These know seconds, and not ts.
SELECT wallet, ts, tx, log_index, token, side, role, repeat, shares, usd, fee
FROM fills
WHERE seconds BETWEEN @lo // 1000000 AND @hi // 1000000 AND ts > @lo AND ts <= @hi AND @which AND batch <= @batch

-- name: TokenDays
-- The last days on which one of the tokens was traded. The table is sorted by day.
SELECT day, SUM(taker_fills + maker_fills)::BIGINT AS fills
FROM (
  SELECT day, taker_fills, maker_fills FROM token_day WHERE day BETWEEN @first AND @last AND @which
  UNION ALL
  SELECT day, taker_fills, maker_fills FROM token_day_delta WHERE day BETWEEN @first AND @last AND @which
) AS d
GROUP BY day
HAVING fills > 0
ORDER BY day DESC
LIMIT @limit

-- name: PositionSums
-- What each wallet traded of each token of some markets, possibly in several rows each: the
-- caller adds them up. They are not sorted.
@positions
UNION ALL
SELECT token, wallet, fills, buy_shares - sell_shares - fee_shares, buy_shares, buy_usd, sell_usd, fee_usd
FROM position_delta WHERE @which
UNION ALL
SELECT token, wallet, -1, CASE side WHEN 0 THEN greatest(fee, 0) - shares ELSE shares END, CASE side WHEN 0 THEN -shares ELSE 0 END,
  CASE side WHEN 0 THEN -usd ELSE 0 END,
  CASE side WHEN 1 THEN -usd ELSE 0 END, CASE side WHEN 1 THEN -fee ELSE least(fee, 0) END
FROM fills WHERE batch > @batch AND @which

-- name: PositionRange
-- Positions of 256 neighbouring tokens are stored together (table.order): one statement for each range
-- of neighbouring tokens lets zone maps prune, and one list of all tokens does not.
SELECT token, wallet, fills, buy_shares - sell_shares - fee_shares AS net, buy_shares, buy_usd, sell_usd, fee_usd
FROM position WHERE @which

-- name: Candles
-- What takers traded of some tokens by hour, before some hour, possibly in several rows each: the
-- caller adds them up. A trade's number is split as in LoadPrices; minima are stored with their
-- sign reversed.
FROM (
  @candles
  UNION ALL
  SELECT token, hour::BIGINT AS hour, fills, usd, shares, coalesce((-opened) >> 52, -1)::BIGINT AS open_ts,
    coalesce((-opened) & 4503599627370495, 0)::BIGINT AS open_at, coalesce(highest, 0)::BIGINT AS highest, coalesce(-lowest, 0)::BIGINT AS lowest,
    coalesce(closed >> 52, -1)::BIGINT AS close_ts, coalesce(closed & 4503599627370495, 0)::BIGINT AS close_at
  FROM candle_delta WHERE @which
) AS c
WHERE hour < @before

-- name: CandleRange
-- Candles are stored as positions are, which serves zone maps as in PositionRange. The base has the numbers in parts (rollups/packed.go).
SELECT token, hour::BIGINT AS hour, fills, usd, shares,
  coalesce(hour::BIGINT * 3600000000 + opened_ts % 3600 * 1000000 + opened_ts // 3600, -1)::BIGINT AS open_ts, coalesce(opened_at, 0) AS open_at,
  coalesce((opened_at & 1048575) + above, 0)::BIGINT AS highest, coalesce((opened_at & 1048575) - below, 0)::BIGINT AS lowest,
  coalesce(hour::BIGINT * 3600000000 + (opened_ts + lasted) % 3600 * 1000000 + (opened_ts + lasted) // 3600, -1)::BIGINT AS close_ts,
  coalesce(opened_at + moved, 0) AS close_at
FROM candle WHERE @which
