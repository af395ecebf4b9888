-- Which outcome of which market a token pays for, as far as it is known, and what.
SELECT token, condition_id AS market, outcome, CAST(payout * 1000000 AS BIGINT) AS payout, resolved_us, desk
FROM lake_tokens
