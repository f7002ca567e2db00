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
                       state, reason, ended_at, prune_at)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
ON CONFLICT (id) DO NOTHING;

-- name: insert_pending
-- Put executions that are new into the queue.
INSERT INTO queue (key, id, job, state, queue, ability, kind, fire_time, run_at, rank, look_at,
                   expires_at, overlap, gate, gate_limit, waits, holds_job, own_payload)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?);

-- name: existing
-- Which of these ids are taken.
SELECT execution.id FROM json_each(?) AS wanted
JOIN execution ON execution.id = wanted.value;

-- name: slot
-- What is on record under an id.
SELECT key, state, reason, attempt FROM execution WHERE id = ?;

-- name: keep_attempt
-- The last attempt gets a row of its own, since the execution goes on.
INSERT INTO attempt (execution, number, outcome, worker, started_at, ended_at, error, result)
SELECT key, attempt, outcome, worker, started_at, ended_at, error, result FROM execution
WHERE key = ? AND outcome IS NOT NULL;

-- name: arm_again
-- A slot that was skipped goes on under its id; the attempt number never falls.
UPDATE execution SET job_version = ?, kind = ?, fire_time = ?, run_at = ?, queue = ?, ability = ?,
    overlap = ?, gate = ?, gate_limit = ?, payload = ?, request_key = ?, revived_from = ?,
    state = NULL, charged = 0, lost = 0, returned = 0, outcome = NULL, reason = NULL,
    worker = NULL, started_at = NULL, ended_at = NULL, error = NULL, result = NULL, prune_at = NULL
WHERE key = ?;

-- name: count_run
-- A fire that nobody has counted yet.
UPDATE cursor SET runs = runs + 1 WHERE job = ?;

-- name: insert_skips
-- Fire times that were passed over together.
INSERT INTO skip (job, first, last, count, reason, prune_at) VALUES (?, ?, ?, ?, ?, ?);
