-- What people and the reaper do to executions that are not running.

-- name: jobs_of_pending
-- The jobs of pending executions.
SELECT DISTINCT job FROM tickwell_queue WHERE id IN $1[];

-- name: lock_pending
-- Which of these are pending, and their states; no claim gets them any more.
SELECT queue.id, queue.state FROM ROWS($1, id ID) AS wanted
STRAIGHT_JOIN tickwell_queue AS queue FORCE INDEX (PRIMARY) ON queue.id = wanted.id FOR UPDATE;

-- name: set_reason
-- Why an execution is parked, or is to be cancelled.
UPDATE tickwell_execution SET reason = $1 WHERE id = $2;

-- name: live_in_project
-- The live executions of a project among these, and their jobs.
SELECT id, job FROM tickwell_execution FORCE INDEX (PRIMARY)
WHERE id IN $1[] AND project = $2 AND state IS NULL;

-- name: lock_running
-- Take the rows of running executions, in one order for all.
SELECT running.id FROM ROWS($1, id ID) AS wanted
STRAIGHT_JOIN tickwell_running AS running FORCE INDEX (PRIMARY) ON running.id = wanted.id
FOR UPDATE;

-- name: dead_in_project
-- The dead executions of a project among these whose jobs are there.
SELECT execution.id, execution.job FROM tickwell_execution AS execution FORCE INDEX (PRIMARY)
JOIN tickwell_cursor AS head ON head.job = execution.job
WHERE execution.id IN $1[] AND execution.project = $2 AND execution.state = 6 AND head.state <> 3;

-- name: dead_to_purge
-- The dead executions of a project among these.
SELECT id, job FROM tickwell_execution FORCE INDEX (PRIMARY)
WHERE id IN $1[] AND project = $2 AND state = 6;

-- name: revive
-- A dead execution goes on with a new budget; one that was gated waits its turn.
UPDATE tickwell_execution SET
    state = NULL, rare = NULL, outcome = NULL, charged = 0, lost = 0, returned = 0,
    ended_at = NULL, reason = NULL, worker = NULL, run_at = $1,
    overlap = CASE WHEN overlap = 4 THEN 4 ELSE 2 END
WHERE id = $2;
