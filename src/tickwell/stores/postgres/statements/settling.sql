-- What people and the reaper do to executions that are not running.

-- name: jobs_of_pending
-- The jobs of pending executions.
SELECT DISTINCT job::text FROM tickwell.queue WHERE id = ANY ($1::uuid[]);

-- name: lock_pending
-- Which of these are pending, and their states; no claim gets them any more.
SELECT id::text, state FROM tickwell.queue WHERE id = ANY ($1::uuid[]) ORDER BY id FOR UPDATE;

-- name: set_reason
-- Why an execution is parked, or is to be cancelled.
UPDATE tickwell.execution SET reason = $1 WHERE id = $2;

-- name: live_in_project
-- The live executions of a project among these, and their jobs.
SELECT id::text, job::text FROM tickwell.execution
WHERE id = ANY ($1::uuid[]) AND project = $2 AND state IS NULL;

-- name: lock_running
-- Take the rows of running executions, in one order for all.
SELECT id::text FROM tickwell.running WHERE id = ANY ($1::uuid[]) ORDER BY id FOR UPDATE;

-- name: dead_in_project
-- The dead executions of a project among these whose jobs are there.
SELECT execution.id::text, execution.job::text FROM tickwell.execution
JOIN tickwell.cursor ON cursor.job = execution.job
WHERE execution.id = ANY ($1::uuid[]) AND execution.project = $2 AND execution.state = 6
  AND cursor.state <> 3;

-- name: dead_to_purge
-- The dead executions of a project among these.
SELECT id::text, job::text FROM tickwell.execution
WHERE id = ANY ($1::uuid[]) AND project = $2 AND state = 6;

-- name: revive
-- A dead execution goes on with a new budget; one that was gated waits its turn.
UPDATE tickwell.execution SET
    state = NULL, rare = NULL, outcome = NULL, charged = 0, lost = 0, returned = 0,
    ended_at = NULL, reason = NULL, worker = NULL, run_at = $1,
    overlap = CASE WHEN overlap = 4 THEN 4 ELSE 2 END
WHERE id = $2;
