-- Requests for keys.

-- name: RequestColumns
id, contact, use_case, state, created_at, decided_at, key_id

-- name: AddRequest
INSERT INTO waitlist (contact, use_case, created_at) VALUES (?, ?, ?)

-- name: WaitingRequests
SELECT COUNT(*) FROM waitlist WHERE state = ?

-- name: AddRequestOnce
-- Unless a request of the same contact is waiting already.
INSERT INTO waitlist (contact, use_case, created_at)
SELECT ?1, ?2, ?3 WHERE NOT EXISTS (SELECT 1 FROM waitlist WHERE contact = ?1 AND state = ?4)

-- name: RequestList
SELECT @columns FROM waitlist WHERE state = ? OR ? = '' ORDER BY id

-- name: RequestByID
SELECT @columns FROM waitlist WHERE id = ?

-- name: Decide
UPDATE waitlist SET state = ?, decided_at = ?, key_id = ? WHERE id = ?
