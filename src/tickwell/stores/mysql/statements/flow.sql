-- Single moves of executions between states; batches that need no gate have their own statements.
-- Locks are taken in one order: cursors by job, gates by name, then rows of queue and running.

-- name: lock_jobs
-- Take the locks of jobs, and read what gates and ends depend on.
SELECT head.job, head.version, head.state, head.failures, head.holder
FROM ROWS($1, id ID) AS wanted
STRAIGHT_JOIN tickwell_cursor AS head FORCE INDEX (PRIMARY) ON head.job = wanted.id FOR UPDATE;

-- name: gates_of_jobs
-- The concurrency gates that pending executions of these jobs pass.
SELECT DISTINCT gate FROM tickwell_queue FORCE INDEX (queue_job)
WHERE job IN $1[] AND gate IS NOT NULL;

-- name: make_gates
-- The rows of gates, so that there is something to lock.
INSERT INTO tickwell_gate (name, held) SELECT name, 0 FROM ROWS($1, name NAME) AS wanted
ON DUPLICATE KEY UPDATE tickwell_gate.name = tickwell_gate.name;

-- name: lock_gates
-- Take the locks of gates.
SELECT gate.name, gate.held FROM ROWS($1, name NAME) AS wanted
STRAIGHT_JOIN tickwell_gate AS gate FORCE INDEX (PRIMARY) ON gate.name = wanted.name FOR UPDATE;

-- name: load_pending
-- A pending execution by its id.
SELECT id, job, state, queue, ability, kind, fire_time, run_at, `rank`, look_at, expires_at,
       overlap, gate, gate_limit, waits, holds_job, holds_key, attempt, charged, lost, returned,
       own_payload
FROM tickwell_queue WHERE id = $1 FOR UPDATE;

-- name: save_pending
-- Where a pending execution stands now.
UPDATE tickwell_queue SET state = $1, waits = $2, queue = $3, ability = $4, run_at = $5,
                          `rank` = $6, look_at = $7, gate_limit = $8, holds_job = $9,
                          holds_key = $10
WHERE id = $11;

-- name: drop_pending
-- It is pending no more.
DELETE FROM tickwell_queue WHERE id = $1;

-- name: end_pending
-- End an execution that was not running.
UPDATE tickwell_execution SET state = $1, rare = NULLIF($1, 5), reason = $2, ended_at = $3
WHERE id = $4;

-- name: count_ended
-- Keep the number of ended executions.
INSERT INTO tickwell_tally (project, state, writer, count)
SELECT ended.project, ended.state, MOD(CONNECTION_ID(), 64), ended.count
FROM ROWS($1, project NAME, state INT, count INT) AS ended
ON DUPLICATE KEY UPDATE tickwell_tally.count = tickwell_tally.count + ended.count;

-- name: job_document
-- The definition of a job.
SELECT document FROM tickwell_job WHERE id = $1;

-- name: set_holder
-- Give a job's own gate to an execution, or to nobody.
UPDATE tickwell_cursor SET holder = $1 WHERE job = $2;

-- name: best_before_job
-- The best of those before a job's own gate.
SELECT id FROM tickwell_queue FORCE INDEX (queue_job) WHERE job = $1 AND waits = 1
ORDER BY `rank`, id LIMIT 1;

-- name: blocked_before_job
-- Those that wait for a job's own gate past their instant, and that a newer one replaces.
SELECT id FROM tickwell_queue FORCE INDEX (queue_job)
WHERE job = $1 AND waits = 1 AND state = 1 AND overlap <> 2 ORDER BY id;

-- name: set_held
-- Places taken in concurrency gates, whose locks are held.
UPDATE ROWS($1, name NAME, held INT) AS counted
STRAIGHT_JOIN tickwell_gate AS gate FORCE INDEX (PRIMARY) ON gate.name = counted.name
SET gate.held = counted.held;

-- name: rates
-- When permits of rates that were used can be had again; after the locks of their gates.
SELECT rate.name, rate.free FROM ROWS($1, name NAME) AS wanted
STRAIGHT_JOIN tickwell_rate AS rate FORCE INDEX (PRIMARY) ON rate.name = wanted.name FOR UPDATE;

-- name: set_rates
-- The same as it is now, and the last of each.
INSERT INTO tickwell_rate (name, free, until)
SELECT used.name, used.free, used.until FROM ROWS($1, name NAME, free TEXT, until INT) AS used
ON DUPLICATE KEY UPDATE tickwell_rate.free = used.free, tickwell_rate.until = used.until;

-- name: best_before_gate
-- The best of those before a concurrency gate.
SELECT id FROM tickwell_queue FORCE INDEX (queue_gate) WHERE waits = 2 AND gate = $1
ORDER BY `rank`, id LIMIT 1;

-- name: count_from_end
-- The next fire of a job that counts from the end of its run.
UPDATE tickwell_cursor SET after = GREATEST(after, $1) WHERE job = $2;

-- name: give_runs_back
-- Executions that did not come to be do not count.
UPDATE tickwell_cursor SET runs = runs - $1 WHERE job = $2;

-- name: nudge
-- Let the planner look at the job, unless it is at rest or has had all its runs.
UPDATE tickwell_cursor SET state = 0, next_fire_time = $2, nudged = TRUE
WHERE job = $1 AND state IN (0, 2) AND ($3 IS NULL OR runs < $3);

-- name: ask_running
-- Ask the worker of a running execution to stop.
UPDATE tickwell_running SET cancel = TRUE, called_off = FALSE WHERE id = $1;

-- name: set_run_at
-- When an execution may start, as people see it.
UPDATE tickwell_execution SET run_at = $1 WHERE id = $2;

-- name: hold_execution
-- An execution that waits until its job is resumed.
UPDATE tickwell_execution SET run_at = $1, reason = NULL WHERE id = $2;

-- name: restamp_execution
-- The definition by which the next attempt runs.
UPDATE tickwell_execution SET job_version = $1, queue = $2, ability = $3, gate_limit = $4
WHERE id = $5;

-- name: payload
-- The payload that an execution brings itself.
SELECT payload FROM tickwell_execution WHERE id = $1;
