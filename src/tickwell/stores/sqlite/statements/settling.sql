-- What people and the reaper do to executions that are not running.

-- name: pending_by_id
-- A pending execution by its id.
SELECT queue.* FROM execution CROSS JOIN queue ON queue.key = execution.key WHERE execution.id = ?;

-- name: set_reason
-- Why an execution is parked, or is to be cancelled.
UPDATE execution SET reason = ? WHERE key = ?;

-- name: live_in_project
-- The live executions of a project among these, in the order asked for.
SELECT execution.key, execution.id FROM json_each(?) AS wanted
CROSS JOIN execution ON execution.id = wanted.value
WHERE execution.project = ? AND execution.state IS NULL;

-- name: dead_in_project
-- The dead executions of a project among these whose jobs are there.
SELECT execution.key, execution.id, execution.job FROM json_each(?) AS wanted
CROSS JOIN execution ON execution.id = wanted.value
CROSS JOIN cursor ON cursor.job = execution.job
WHERE execution.project = ? AND execution.state = 6 AND cursor.state <> 3;

-- name: dead_to_purge
-- The dead executions of a project among these.
SELECT execution.key, execution.id FROM json_each(?) AS wanted
CROSS JOIN execution ON execution.id = wanted.value
WHERE execution.project = ? AND execution.state = 6;

-- name: revive
-- A dead execution goes on with a new budget; one that was gated waits its turn.
UPDATE execution SET state = NULL, outcome = NULL, charged = 0, lost = 0, returned = 0,
                     ended_at = NULL, reason = NULL, worker = NULL, prune_at = NULL, run_at = ?,
                     overlap = iif(overlap = 4, 4, 2)
WHERE key = ?;

-- name: queue_revived
-- It waits, due now.
INSERT INTO queue (key, id, job, state, queue, ability, kind, fire_time, run_at, rank, look_at,
                   overlap, gate, gate_limit, attempt, own_payload)
SELECT key, id, job, 0, queue, ability, kind, fire_time, run_at, ?, run_at,
       overlap, gate, gate_limit, attempt, coalesce(length(payload), 0)
FROM execution WHERE key = ?;
