-- Facts of one stretch of tokens after another, for the rollups that token_stretches.go sums up.

-- name: TokenStretches
-- How many facts each stretch of @tokens ids of tokens has.
SELECT token // @tokens AS stretch, count(*) AS fills FROM fills GROUP BY stretch ORDER BY stretch

-- name: StretchFills
SELECT ts, wallet, token, side, role, shares, usd, fee, coalesce(log_index, -1)::INTEGER AS log_index FROM fills WHERE @among
