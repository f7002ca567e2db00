-- Single moves of executions between states; batches that need no gate have their own statements.

-- name: load_pending
-- A pending execution by its key.
SELECT key, id, job, state, queue, ability, kind, fire_time, run_at, rank, look_at, expires_at,
       overlap, gate, gate_limit, waits, holds_job, holds_key, attempt, charged, lost, returned,
       own_payload
FROM queue WHERE key = ?;

-- name: save_pending
-- Where a pending execution stands now.
UPDATE queue SET state = ?, waits = ?, queue = ?, ability = ?, run_at = ?, rank = ?, look_at = ?,
                 gate_limit = ?, holds_job = ?, holds_key = ?
WHERE key = ?;

-- name: insert_again
-- Put an execution into the queue.
INSERT INTO queue (key, id, job, state, queue, ability, kind, fire_time, run_at, rank, look_at,
                   expires_at, overlap, gate, gate_limit, waits, holds_job, holds_key, attempt,
                   charged, lost, returned, own_payload)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?);

-- name: drop_pending
-- It is pending no more.
DELETE FROM queue WHERE key = ?;

-- name: end_pending
-- End an execution that was not running.
UPDATE execution SET state = ?, reason = ?, ended_at = ?, prune_at = ? WHERE key = ?;

-- name: count_ended
-- Keep the number of ended executions.
INSERT INTO tally (project, state, count) VALUES (?, ?, ?)
ON CONFLICT (project, state) DO UPDATE SET count = count + excluded.count;

-- name: count_made
-- So many more executions of a job are on record.
UPDATE cursor SET made = made + ? WHERE job = ?;

-- name: job_head
-- Which definition of a job is in force, and whether it fires.
SELECT id, version, state FROM cursor WHERE job = ?;

-- name: job_document
-- The definition of a job.
SELECT document FROM job WHERE key = ?;

-- name: holder
-- Who holds a job's own gate.
SELECT holder FROM cursor WHERE job = ?;

-- name: set_holder
-- Give a job's own gate to an execution, or to nobody.
UPDATE cursor SET holder = ? WHERE job = ?;

-- name: best_before_job
-- The best of those before a job's own gate.
SELECT key, id, job, state, queue, ability, kind, fire_time, run_at, rank, look_at, expires_at,
       overlap, gate, gate_limit, waits, holds_job, holds_key, attempt, charged, lost, returned,
       own_payload
FROM queue WHERE job = ? AND waits = 1 ORDER BY rank, id LIMIT 1;

-- name: blocked_before_job
-- Those that wait for a job's own gate past their instant, and that a newer one replaces.
SELECT key FROM queue WHERE job = ? AND waits = 1 AND state = 1 AND overlap <> 2 ORDER BY id;

-- name: gate_held
-- Places taken in a concurrency gate.
SELECT held FROM gate WHERE name = ?;

-- name: set_gate
-- So many places are taken now.
INSERT INTO gate (name, held) VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET held = excluded.held;

-- name: drop_gate
-- No place is taken any more.
DELETE FROM gate WHERE name = ?;

-- name: best_before_gate
-- The best of those before a concurrency gate.
SELECT key, id, job, state, queue, ability, kind, fire_time, run_at, rank, look_at, expires_at,
       overlap, gate, gate_limit, waits, holds_job, holds_key, attempt, charged, lost, returned,
       own_payload
FROM queue WHERE waits = 2 AND gate = ? ORDER BY rank, id LIMIT 1;

-- name: count_from_end
-- The next fire of a job that counts from the end of its run.
UPDATE cursor SET after = max(after, ?) WHERE job = ?;

-- name: give_runs_back
-- Executions that did not come to be do not count.
UPDATE cursor SET runs = runs - ? WHERE job = ?;

-- name: nudge
-- Let the planner look at the job, unless it is at rest or has had all its runs.
UPDATE cursor SET state = 0, next_fire_time = ?, nudged = 1
WHERE job = ? AND state IN (0, 2) AND (? IS NULL OR runs < ?);

-- name: ask_running
-- Ask the worker of a running execution to stop.
UPDATE running SET cancel = 1, called_off = 0 WHERE key = ?;

-- name: set_run_at
-- When an execution may start, as people see it.
UPDATE execution SET run_at = ? WHERE key = ?;

-- name: hold_execution
-- An execution that waits until its job is resumed.
UPDATE execution SET run_at = ?, reason = NULL WHERE key = ?;

-- name: restamp_execution
-- The definition by which the next attempt runs.
UPDATE execution SET job_version = ?, queue = ?, ability = ?, gate_limit = ? WHERE key = ?;

-- name: payload
-- The payload that an execution brings itself.
SELECT payload FROM execution WHERE key = ?;
