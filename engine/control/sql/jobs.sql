-- Export jobs. Times are in microseconds.

-- name: JobColumns
id, key_id, kind, dataset, address, format, period, history_days, status, attempts, created_at, started_at, finished_at,
expires_at, file, rows, bytes, sha256, as_of, version, truncated, error_code, error_detail

-- name: JobByIdempotencyKey
SELECT @columns FROM export_jobs WHERE key_id = ? AND idempotency_key = ?

-- name: JobByID
SELECT @columns FROM export_jobs WHERE id = ?

-- name: JobOfKey
SELECT @columns FROM export_jobs WHERE id = ? AND key_id = ?

-- name: JobWithSameFile
SELECT @columns FROM export_jobs
WHERE status = 'done' AND version = ? AND expires_at > ? AND kind = ? AND dataset = ? AND address = ? AND format = ?
  AND period = ? AND history_days = ?
ORDER BY seq DESC LIMIT 1

-- name: ActiveJobs
SELECT count(*) FROM export_jobs WHERE key_id = ? AND status IN ('queued', 'running')

-- name: AddJob
INSERT INTO export_jobs (id, key_id, idempotency_key, kind, dataset, address, format, period, history_days, status, created_at,
                         started_at, finished_at, expires_at, file, rows, bytes, sha256, as_of, version, truncated)
VALUES (?, ?, nullif(?, ''), ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)

-- name: NextJob
-- The next job is of the key with the fewest running ones, and among these of the one that waits
-- longest.
UPDATE export_jobs SET status = 'running', started_at = ?, attempts = attempts + 1
WHERE seq = (
  SELECT w.seq FROM export_jobs AS w
  WHERE w.status = 'queued'
  ORDER BY (SELECT count(*) FROM export_jobs AS r WHERE r.key_id = w.key_id AND r.status = 'running'),
    (SELECT coalesce(max(s.started_at), 0) FROM export_jobs AS s WHERE s.key_id = w.key_id AND s.status <> 'queued'),
    w.seq
  LIMIT 1)
RETURNING @columns

-- name: EndJob
UPDATE export_jobs SET status = ?, finished_at = ?, expires_at = ?, file = ?, rows = ?, bytes = ?, sha256 = ?, as_of = ?,
  version = ?, truncated = ?, error_code = ?, error_detail = ?, attempts = attempts - (? = 'queued')
WHERE id = ? AND status = 'running'

-- name: CancelJob
UPDATE export_jobs SET expires_at = CASE status WHEN 'done' THEN ? END,
  finished_at = CASE status WHEN 'done' THEN finished_at ELSE ? END,
  status = CASE status WHEN 'done' THEN 'expired' ELSE 'canceled' END
WHERE id = ? AND key_id = ? AND status IN ('queued', 'running', 'done')

-- name: FailJobs
UPDATE export_jobs SET status = 'failed', finished_at = ?, error_code = ?, error_detail = ?
WHERE status = 'running' AND attempts >= ?

-- name: RequeueJobs
UPDATE export_jobs SET status = 'queued' WHERE status = 'running'

-- name: ExpireOldJobs
UPDATE export_jobs SET status = 'expired' WHERE status = 'done' AND expires_at <= ?

-- name: ExpireOverQuota
-- A file that several jobs share counts once, as old as the newest of them.
WITH files AS (
  SELECT file, max(bytes) AS bytes, max(seq) AS newest FROM export_jobs WHERE status = 'done' GROUP BY file
),
kept AS (
  SELECT file, newest, sum(bytes) OVER (ORDER BY newest DESC) AS total FROM files
)
UPDATE export_jobs SET status = 'expired', expires_at = ?
WHERE status = 'done' AND file IN (
  SELECT file FROM kept WHERE total > ? AND newest < (SELECT max(newest) FROM files))

-- name: ForgetJobs
DELETE FROM export_jobs WHERE status IN ('failed', 'canceled', 'expired') AND coalesce(expires_at, finished_at) < ?

-- name: KeptFiles
SELECT DISTINCT file FROM export_jobs WHERE status = 'done'

-- name: JobCounts
SELECT status, count(*), min(created_at) FROM export_jobs GROUP BY status
