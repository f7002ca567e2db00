-- The other half of planning: what waits is moved on.

-- name: expired
-- Pending executions past their time to live, earliest first.
SELECT id, job FROM tickwell_queue FORCE INDEX (queue_expire)
WHERE expires_at <= $1 AND job NOT IN $2[] ORDER BY expires_at, id LIMIT $3;

-- name: promote
-- The waiting executions to be looked at, earliest first, and whether they need no gate any more.
-- Rows that somebody else moves are passed over.
SELECT id, job, run_at <= $1 AND (overlap = 4 OR holds_job) AND (gate IS NULL OR holds_key)
FROM tickwell_queue FORCE INDEX (queue_look)
WHERE state = 0 AND look_at <= $1 AND look_at < $2 AND job NOT IN $3[]
ORDER BY look_at, id LIMIT $4 FOR UPDATE SKIP LOCKED;

-- name: queue_free
-- They are queued.
UPDATE tickwell_queue FORCE INDEX (PRIMARY) SET state = 2, waits = 0 WHERE id IN $1[];

-- name: ended_states
-- How these executions ended.
SELECT id, state FROM tickwell_execution WHERE id IN $1[] AND state IS NOT NULL;

-- name: pending_states
-- Where these executions stand now; those that ended have no row here.
SELECT id, state FROM tickwell_queue WHERE id IN $1[];

-- name: still_waiting
-- Which of these wait and are to be looked at, earliest first.
SELECT id FROM tickwell_queue FORCE INDEX (PRIMARY)
WHERE id IN $1[] AND state = 0 AND look_at <= $2 ORDER BY look_at, id;
