-- The other half of planning: what waits is moved on.

-- name: expired
-- Pending executions past their time to live, earliest first.
SELECT id::text, job::text FROM tickwell.queue
WHERE expires_at <= $1 AND job <> ALL ((SELECT $2::text::uuid[])::uuid[])
ORDER BY expires_at, id LIMIT $3;

-- name: promote
-- Of the waiting executions to be looked at, earliest first: those that need no gate any more are
-- queued in this statement, the others are named. Rows that somebody else moves are passed over.
WITH looked_at AS MATERIALIZED (
    SELECT id, job, run_at <= $1 AND (overlap = 4 OR holds_job)
                   AND (gate IS NULL OR holds_key) AS is_free
    FROM tickwell.queue
    WHERE state = 0 AND look_at <= $1 AND look_at < $2
      AND job <> ALL ((SELECT $3::text::uuid[])::uuid[])
    ORDER BY look_at, id LIMIT $4 FOR UPDATE SKIP LOCKED
),
queued AS (
    UPDATE tickwell.queue SET state = 2, waits = 0
    WHERE id = ANY (ARRAY(SELECT looked_at.id FROM looked_at WHERE looked_at.is_free))
)
SELECT id::text, job::text, is_free FROM looked_at;

-- name: ended_states
-- How these executions ended.
SELECT id::text, state FROM tickwell.execution
WHERE id = ANY ($1::uuid[]) AND state IS NOT NULL;

-- name: pending_states
-- Where these executions stand now; those that ended have no row here.
SELECT id::text, state FROM tickwell.queue WHERE id = ANY ($1::uuid[]);

-- name: still_waiting
-- Which of these wait and are to be looked at, earliest first.
SELECT id::text FROM tickwell.queue WHERE id = ANY ($1::uuid[]) AND state = 0 AND look_at <= $2
ORDER BY look_at, id;
