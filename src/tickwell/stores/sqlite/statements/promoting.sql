-- The other half of planning: what waits is moved on.

-- name: expired
-- Pending executions past their time to live, earliest first.
SELECT queue.id, cursor.id FROM queue INDEXED BY queue_expire
CROSS JOIN cursor ON cursor.job = queue.job
WHERE queue.expires_at <= ?1 AND cursor.id NOT IN (SELECT value FROM json_each(?2))
ORDER BY queue.expires_at, queue.id LIMIT ?3;

-- name: promote
-- Waiting executions to be looked at, earliest first, and whether they need no gate any more.
SELECT queue.id, cursor.id,
       queue.run_at <= ?1 AND (queue.overlap = 4 OR queue.holds_job)
           AND (queue.gate IS NULL OR queue.holds_key)
FROM queue INDEXED BY queue_look CROSS JOIN cursor ON cursor.job = queue.job
WHERE queue.state = 0 AND queue.look_at <= ?1 AND queue.look_at < ?2
  AND cursor.id NOT IN (SELECT value FROM json_each(?3))
ORDER BY queue.look_at, queue.id LIMIT ?4;

-- name: queue_free
-- They are queued.
UPDATE queue SET state = 2, waits = 0 WHERE key IN (
    SELECT execution.key FROM json_each(?1) AS free
    CROSS JOIN execution ON execution.id = free.value
);

-- name: ended_states
-- How these executions ended.
SELECT execution.id, execution.state FROM json_each(?1) AS wanted
CROSS JOIN execution ON execution.id = wanted.value WHERE execution.state IS NOT NULL;

-- name: pending_states
-- Where these executions stand now; those that ended have no row here.
SELECT queue.id, queue.state FROM json_each(?1) AS wanted
CROSS JOIN execution ON execution.id = wanted.value
CROSS JOIN queue ON queue.key = execution.key;

-- name: still_waiting
-- Which of these wait and are to be looked at, earliest first.
SELECT queue.id FROM json_each(?1) AS wanted
CROSS JOIN execution ON execution.id = wanted.value
CROSS JOIN queue ON queue.key = execution.key
WHERE queue.state = 0 AND queue.look_at <= ?2 ORDER BY queue.look_at, queue.id;
