-- Payouts of a market that may not fit its outcomes. Those of each length are kept separately, so
-- that none is replaced by payouts that turn out to have the wrong length.

-- name: SpareEmpty
CREATE OR REPLACE TEMP TABLE s_spare AS FROM spare_payouts WHERE false

-- name: SpareColumns
@w.condition, @w.payouts, @w.payout_source, @w.payout_version, @w.payout_corrected_at, @w.payout_at, @w.payout_at_source, @w.payout_at_version

-- name: Fit
-- How many outcomes each market of the file has after it; NULL if unknown.
CREATE OR REPLACE TEMP TABLE s_fit AS
SELECT n.condition AS condition, json_array_length(@outcomes) AS outcomes
FROM (@pairs) AS p

-- name: Unfit
-- Payouts whose number differs from that of the market's outcomes.
SELECT n.line, n.condition, n.contradicts, n.payouts::VARCHAR AS payouts, n.payout_source, n.payout_version, n.payout_at, n.payout_at_source, f.outcomes
FROM m_raw AS n JOIN s_fit AS f ON f.condition = n.condition
WHERE len(n.payouts) <> f.outcomes

-- name: SpareUnfit
INSERT INTO s_spare
SELECT @columns FROM m_raw AS n JOIN s_fit AS f ON f.condition = n.condition WHERE len(n.payouts) <> f.outcomes

-- name: DropUnfit
UPDATE m_raw SET payouts = NULL, payout_source = NULL, payout_version = NULL, payout_at = NULL, payout_at_source = NULL,
  payout_at_version = NULL, payout_corrected_at = NULL
FROM s_fit AS f WHERE f.condition = m_raw.condition AND len(m_raw.payouts) <> f.outcomes

-- name: SpareOther
-- For a market whose outcomes are not known: the payouts of the file and the known ones, if they
-- differ in length.
INSERT INTO s_spare
SELECT @ncolumns FROM m_raw AS n JOIN s_fit AS f ON f.condition = n.condition JOIN markets AS o ON o.condition = n.condition
WHERE f.outcomes IS NULL AND len(n.payouts) <> len(o.payouts)
UNION ALL
SELECT @ocolumns FROM m_raw AS n JOIN s_fit AS f ON f.condition = n.condition JOIN markets AS o ON o.condition = n.condition
WHERE f.outcomes IS NULL AND len(n.payouts) <> len(o.payouts)

-- name: DropOther
-- Of these, the better one is used, merged only with payouts of the same length.
UPDATE m_raw SET payouts = NULL, payout_source = NULL, payout_version = NULL, payout_at = NULL, payout_at_source = NULL,
  payout_at_version = NULL, payout_corrected_at = NULL
WHERE condition IN (
  SELECT n.condition FROM m_raw AS n JOIN s_fit AS f ON f.condition = n.condition JOIN markets AS o ON o.condition = n.condition
  WHERE f.outcomes IS NULL AND len(n.payouts) <> len(o.payouts) AND @newword <= @oldword
)

-- name: SpareUnresolved
-- Known payouts that do not fit the outcomes of this file.
INSERT INTO s_spare
SELECT @columns FROM n_market AS n JOIN markets AS o ON o.market = n.market
WHERE len(o.payouts) <> json_array_length(n.outcomes)

-- name: SpareBest
CREATE OR REPLACE TEMP TABLE s_best AS
SELECT condition, said.payouts, said.payout_source, said.payout_version, said.payout_corrected_at, dated.payout_at, dated.payout_at_source, dated.payout_at_version
FROM (
  SELECT w.condition, arg_max(struct_pack(payouts := w.payouts, payout_source := w.payout_source, payout_version := w.payout_version,
      payout_corrected_at := w.payout_corrected_at), @word) AS said,
    arg_max(struct_pack(payout_at := payout_at, payout_at_source := payout_at_source, payout_at_version := payout_at_version),
      (payout_at_source, coalesce(payout_at_version, 0), -payout_at)) FILTER (payout_at IS NOT NULL) AS dated
  FROM (FROM s_spare UNION ALL SELECT * FROM spare_payouts WHERE condition IN (SELECT condition FROM s_spare)) AS w
  GROUP BY w.condition, len(w.payouts)
) AS k

-- name: DropSpare
DELETE FROM spare_payouts WHERE condition IN (SELECT condition FROM s_best)

-- name: AddSpare
INSERT INTO spare_payouts FROM s_best

-- name: TakeSpare
-- Earlier payouts of the length that is now right are merged again with this file. If the
-- outcomes are not known, that is the length of the file's payouts.
UPDATE m_raw SET payouts = k.said.payouts, payout_source = k.said.payout_source, payout_version = k.said.payout_version,
  payout_corrected_at = k.said.payout_corrected_at, payout_at = k.dated.payout_at, payout_at_source = k.dated.payout_at_source,
  payout_at_version = k.dated.payout_at_version
FROM (
  SELECT n.condition,
    CASE WHEN n.payouts IS NULL OR @oldword > @newword THEN struct_pack(payouts := o.payouts, payout_source := o.payout_source, payout_version := o.payout_version,
        payout_corrected_at := o.payout_corrected_at)
      ELSE struct_pack(payouts := n.payouts, payout_source := n.payout_source, payout_version := n.payout_version,
        payout_corrected_at := n.payout_corrected_at) END AS said,
    CASE WHEN o.payout_at IS NOT NULL AND (n.payout_at IS NULL OR (o.payout_at_source, coalesce(o.payout_at_version, 0), -o.payout_at)
        > (n.payout_at_source, coalesce(n.payout_at_version, 0), -n.payout_at))
      THEN struct_pack(payout_at := o.payout_at, payout_at_source := o.payout_at_source, payout_at_version := o.payout_at_version)
      ELSE struct_pack(payout_at := n.payout_at, payout_at_source := n.payout_at_source, payout_at_version := n.payout_at_version) END AS dated
  FROM m_raw AS n JOIN s_fit AS f ON f.condition = n.condition
  JOIN spare_payouts AS o ON o.condition = n.condition AND len(o.payouts) = coalesce(f.outcomes, len(n.payouts))
) AS k
WHERE k.condition = m_raw.condition
