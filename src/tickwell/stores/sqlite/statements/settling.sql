-- What people and the reaper do to executions that are not running.

-- name: jobs_of_pending
-- The jobs of pending executions.
SELECT DISTINCT cursor.id FROM json_each(?1) AS wanted
CROSS JOIN execution ON execution.id = wanted.value
CROSS JOIN queue ON queue.key = execution.key
CROSS JOIN cursor ON cursor.job = queue.job;

-- name: lock_pending
-- Which of these are pending, and their states.
SELECT queue.id, queue.state FROM json_each(?1) AS wanted
CROSS JOIN execution ON execution.id = wanted.value
CROSS JOIN queue ON queue.key = execution.key;

-- name: set_reason
-- Why an execution is parked, or is to be cancelled.
UPDATE execution SET reason = ?1 WHERE id = ?2;

-- name: live_in_project
-- The live executions of a project among these, and their jobs.
SELECT execution.id, cursor.id FROM json_each(?1) AS wanted
CROSS JOIN execution ON execution.id = wanted.value
CROSS JOIN cursor ON cursor.job = execution.job
WHERE execution.project = ?2 AND execution.state IS NULL;

-- name: lock_running
-- Which of these are running.
SELECT execution.id FROM json_each(?1) AS wanted
CROSS JOIN execution ON execution.id = wanted.value
CROSS JOIN running ON running.key = execution.key;

-- name: dead_in_project
-- The dead executions of a project among these whose jobs are not deleted.
SELECT execution.id, cursor.id FROM json_each(?1) AS wanted
CROSS JOIN execution ON execution.id = wanted.value
CROSS JOIN cursor ON cursor.job = execution.job
WHERE execution.project = ?2 AND execution.state = 6 AND cursor.state <> 3;

-- name: dead_to_purge
-- The dead executions of a project among these, and their jobs.
SELECT execution.id, cursor.id FROM json_each(?1) AS wanted
CROSS JOIN execution ON execution.id = wanted.value
CROSS JOIN cursor ON cursor.job = execution.job
WHERE execution.project = ?2 AND execution.state = 6;

-- name: revive
-- A dead execution goes on with a new budget; one that was gated waits for its permits.
UPDATE execution SET state = NULL, outcome = NULL, charged = 0, lost = 0, returned = 0,
                     ended_at = NULL, reason = NULL, worker = NULL, run_at = ?1,
                     overlap = iif(overlap = 4, 4, 2)
WHERE id = ?2;
