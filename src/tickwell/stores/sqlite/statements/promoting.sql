-- The other half of planning: what waits is moved on.

-- name: expired
-- Pending executions past their time to live, earliest first.
SELECT key, job FROM queue
WHERE expires_at <= ? AND job NOT IN (SELECT value FROM json_each(?))
ORDER BY expires_at, id LIMIT ?;

-- name: to_promote
-- Waiting executions to be looked at, earliest first, and who holds the gates of their jobs.
SELECT queue.key, queue.job, queue.run_at, queue.overlap, queue.gate, queue.holds_job,
       queue.holds_key, cursor.holder
FROM queue INDEXED BY queue_look CROSS JOIN cursor ON cursor.job = queue.job
WHERE queue.state = 0 AND queue.look_at <= ? AND queue.look_at < ?
  AND queue.job NOT IN (SELECT value FROM json_each(?))
ORDER BY queue.look_at, queue.id LIMIT ?;

-- name: promote
-- Waiting executions that have their permits.
UPDATE queue SET state = 2, waits = 0, holds_job = holds_job OR overlap <> 4
WHERE key IN (SELECT value FROM json_each(?));

-- name: wait_for_job
-- Waiting executions whose instant has not come and whose job's gate is busy.
UPDATE queue SET waits = 1, look_at = run_at + ?
WHERE key IN (SELECT value FROM json_each(?));

-- name: take_holders
-- Executions that took their job's gate.
UPDATE cursor SET holder = ? WHERE job = ?;

-- name: pending_states
-- Where these executions stand now; those that ended have no row here.
SELECT queue.key, queue.state FROM json_each(?) AS wanted
JOIN queue ON queue.key = wanted.value;

-- name: ended_states
-- How these executions ended.
SELECT execution.state FROM json_each(?) AS wanted
JOIN execution ON execution.key = wanted.value WHERE execution.state IS NOT NULL;
