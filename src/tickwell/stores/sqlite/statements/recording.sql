-- Recording executions: new ones in batches, and slots that are armed again.

-- name: last_key
-- The highest key in use; under the write lock nobody else can take the next.
SELECT coalesce(max(key), 0) FROM execution;

-- name: insert_live
-- Record live executions; an id that exists is left alone: it is the guard.
INSERT INTO execution (key, id, project, job, job_version, kind, fire_time, run_at, queue, ability,
                       created_at, overlap, gate, gate_limit, payload, request_key, revived_from)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
ON CONFLICT (id) DO NOTHING;

-- name: insert_skipped
-- Record executions whose instant came while another was live.
INSERT INTO execution (key, id, project, job, job_version, kind, fire_time, run_at, queue, ability,
                       created_at, overlap, gate, gate_limit, payload, request_key, revived_from,
                       state, reason, ended_at)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
ON CONFLICT (id) DO NOTHING;

-- name: insert_pending
-- Put executions that are new into the queue.
INSERT INTO queue (key, id, job, kind, fire_time, run_at, queue, ability, overlap, gate, gate_limit,
                   own_payload, state, waits, look_at, holds_job, rank, expires_at, holds_key)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?);

-- name: existing
-- What is on record under these ids.
SELECT execution.id, execution.state, execution.reason FROM json_each(?1) AS wanted
CROSS JOIN execution ON execution.id = wanted.value;

-- name: slot
-- What is on record under an id.
SELECT state, reason, attempt FROM execution WHERE id = ?1;

-- name: keep_attempts
-- The last attempt gets a row of its own, since the execution goes on.
INSERT INTO attempt (execution, number, outcome, worker, started_at, ended_at, error, result)
SELECT execution.key, attempt, outcome, worker, started_at, ended_at, error, result
FROM json_each(?1) AS kept CROSS JOIN execution ON execution.id = kept.value
WHERE outcome IS NOT NULL;

-- name: arm_execution
-- A slot that was skipped goes on under its id; the attempt number never falls.
UPDATE execution SET job_version = ?2, kind = ?3, fire_time = ?4, run_at = ?5, queue = ?6,
    ability = ?7, overlap = ?8, gate = ?9, gate_limit = ?10, payload = ?11, request_key = ?12,
    revived_from = ?13, state = NULL, charged = 0, lost = 0, returned = 0, outcome = NULL,
    reason = NULL, worker = NULL, started_at = NULL, ended_at = NULL, error = NULL, result = NULL
WHERE id = ?1;

-- name: queue_slot
-- It is pending again.
INSERT INTO queue (key, id, job, state, queue, ability, kind, fire_time, run_at, rank, look_at,
                   expires_at, overlap, gate, gate_limit, waits, holds_job, holds_key, attempt,
                   own_payload)
SELECT key, id, job, ?2, queue, ability, kind, fire_time, run_at, ?6, ?4, ?7, overlap, gate,
       gate_limit, ?3, ?5, ?8, attempt, coalesce(length(payload), 0)
FROM execution WHERE id = ?1;

-- name: queue_armed
-- It waits.
INSERT INTO queue (key, id, job, state, queue, ability, kind, fire_time, run_at, rank, look_at,
                   expires_at, overlap, gate, gate_limit, attempt, own_payload)
SELECT key, id, job, 0, queue, ability, kind, fire_time, run_at, ?2, run_at,
       ?3, overlap, gate, gate_limit, attempt, coalesce(length(payload), 0)
FROM execution WHERE id = ?1;

-- name: count_made
-- Executions on record of a job, and who holds its gate.
UPDATE cursor SET holder = (SELECT key FROM execution WHERE id = ?2),
                  prune_at = CASE WHEN keep >= made AND keep < made + ?1 THEN 0
                                  ELSE min(coalesce(prune_at, ?3), ?3) END,
                  made = made + ?1
WHERE job = (SELECT key FROM job WHERE id = ?4);

-- name: count_one_made
-- One more execution on record.
UPDATE cursor SET prune_at = iif(made = keep, 0, min(coalesce(prune_at, ?2), ?2)), made = made + 1
WHERE job = (SELECT key FROM job WHERE id = ?1);

-- name: count_runs
-- Fires that are not counted yet.
UPDATE cursor SET runs = runs + ?1 WHERE job = (SELECT key FROM job WHERE id = ?2);

-- name: insert_skips
-- Fire times that were passed over together.
INSERT INTO skip (job, first, last, count, reason, prune_at)
VALUES ((SELECT key FROM job WHERE id = ?1), ?2, ?3, ?4, ?5, ?6);
