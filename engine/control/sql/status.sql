-- Samples of the status page, and its daily history.

-- name: AddSample
INSERT OR REPLACE INTO status_samples (at, grades, serving_lag, trades_lag, markets_lag, sources) VALUES (?, ?, ?, ?, ?, ?)

-- name: ForgetSamples
DELETE FROM status_samples WHERE at <= ?

-- name: SamplesSince
SELECT at, grades, serving_lag, trades_lag, markets_lag, sources FROM status_samples WHERE at > ? ORDER BY at

-- name: AddStatusDay
INSERT OR REPLACE INTO status_days (day, part, a, b, c, d, f, lag_max) VALUES (?, ?, ?, ?, ?, ?, ?, ?)

-- name: AddStatusEvent
INSERT OR REPLACE INTO status_events (at, kind, part, until, grade, text) VALUES (?, ?, ?, ?, ?, ?)

-- name: ForgetStatusDays
DELETE FROM status_days WHERE day < ?

-- name: ForgetStatusEvents
-- Those before a day, and all but the newest ones.
DELETE FROM status_events WHERE at < unixepoch(?) OR (at, kind, part) IN (
  SELECT at, kind, part FROM status_events ORDER BY at DESC, kind DESC, part DESC LIMIT -1 OFFSET ?)

-- name: StatusDays
SELECT day, part, a, b, c, d, f, lag_max FROM status_days ORDER BY day, part

-- name: StatusEvents
SELECT at, kind, part, until, grade, text FROM status_events ORDER BY at, kind, part
