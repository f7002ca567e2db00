-- Single moves of executions between states; batches that need no gate have their own statements.
-- Locks are taken in one order: cursors by job, gates by name, then rows of queue and running.

-- name: lock_jobs
-- Take the locks of jobs, and read what gates and ends depend on.
SELECT job::text, version, state, failures, holder::text FROM tickwell.cursor
WHERE job = ANY ($1::uuid[]) ORDER BY job FOR NO KEY UPDATE;

-- name: gates_of_jobs
-- The concurrency gates that pending executions of these jobs pass.
SELECT DISTINCT gate FROM tickwell.queue WHERE job = ANY ($1::uuid[]) AND gate IS NOT NULL;

-- name: make_gates
-- The rows of gates, so that there is something to lock.
INSERT INTO tickwell.gate (name, held) SELECT name, 0 FROM unnest($1::text[]) AS wanted (name)
ORDER BY name ON CONFLICT (name) DO NOTHING;

-- name: lock_gates
-- Take the locks of gates.
SELECT name, held FROM tickwell.gate WHERE name = ANY ($1::text[]) ORDER BY name FOR UPDATE;

-- name: load_pending
-- A pending execution by its id.
SELECT id::text, job::text, state, queue, ability, kind, fire_time, run_at, rank, look_at,
       expires_at, overlap, gate, gate_limit, waits, holds_job, holds_key, attempt, charged, lost,
       returned, own_payload
FROM tickwell.queue WHERE id = $1 FOR UPDATE;

-- name: save_pending
-- Where a pending execution stands now.
UPDATE tickwell.queue SET state = $1, waits = $2, queue = $3, ability = $4, run_at = $5, rank = $6,
                          look_at = $7, gate_limit = $8, holds_job = $9, holds_key = $10
WHERE id = $11;

-- name: drop_pending
-- It is pending no more.
DELETE FROM tickwell.queue WHERE id = $1;

-- name: end_pending
-- End an execution that was not running.
UPDATE tickwell.execution SET state = $1::smallint, rare = nullif($1::smallint, 5), reason = $2, ended_at = $3
WHERE id = $4;

-- name: count_ended
-- Keep the number of ended executions.
INSERT INTO tickwell.tally (project, state, writer, count)
SELECT project, state, pg_backend_pid() % 64, count
FROM unnest($1::text[], $2::smallint[], $3::bigint[]) AS ended (project, state, count)
ORDER BY project, state
ON CONFLICT (project, state, writer) DO UPDATE SET count = tally.count + excluded.count;

-- name: job_document
-- The definition of a job.
SELECT document FROM tickwell.job WHERE id = $1;

-- name: set_holder
-- Give a job's own gate to an execution, or to nobody.
UPDATE tickwell.cursor SET holder = $1 WHERE job = $2;

-- name: best_before_job
-- The best of those before a job's own gate.
SELECT id::text FROM tickwell.queue WHERE job = $1 AND waits = 1 ORDER BY rank, id LIMIT 1;

-- name: blocked_before_job
-- Those that wait for a job's own gate past their instant, and that a newer one replaces.
SELECT id::text FROM tickwell.queue
WHERE job = $1 AND waits = 1 AND state = 1 AND overlap <> 2 ORDER BY id;

-- name: set_held
-- Places taken in concurrency gates, whose locks are held.
UPDATE tickwell.gate SET held = counted.held FROM unnest($1::text[], $2::integer[])
    AS counted (name, held) WHERE gate.name = ANY (ARRAY[counted.name]);

-- name: rates
-- When permits of rates that were used can be had again; after the locks of their gates.
SELECT name, free FROM tickwell.rate WHERE name = ANY ($1::text[]);

-- name: set_rates
-- The same as it is now, and the last of each.
INSERT INTO tickwell.rate (name, free, until)
SELECT name, free, until FROM unnest($1::text[], $2::text[], $3::bigint[])
    AS used (name, free, until) ORDER BY name
ON CONFLICT (name) DO UPDATE SET free = excluded.free, until = excluded.until;

-- name: best_before_gate
-- The best of those before a concurrency gate.
SELECT id::text FROM tickwell.queue WHERE waits = 2 AND gate = $1 ORDER BY rank, id LIMIT 1;

-- name: count_from_end
-- The next fire of a job that counts from the end of its run.
UPDATE tickwell.cursor SET after = greatest(after, $1) WHERE job = $2;

-- name: give_runs_back
-- Executions that did not come to be do not count.
UPDATE tickwell.cursor SET runs = runs - $1 WHERE job = $2;

-- name: nudge
-- Let the planner look at the job, unless it is at rest or has had all its runs.
UPDATE tickwell.cursor SET state = 0, next_fire_time = $2, nudged = true
WHERE job = $1 AND state IN (0, 2) AND ($3::bigint IS NULL OR runs < $3);

-- name: ask_running
-- Ask the worker of a running execution to stop.
UPDATE tickwell.running SET cancel = true, called_off = false WHERE id = $1;

-- name: set_run_at
-- When an execution may start, as people see it.
UPDATE tickwell.execution SET run_at = $1 WHERE id = $2;

-- name: hold_execution
-- An execution that waits until its job is resumed.
UPDATE tickwell.execution SET run_at = $1, reason = NULL WHERE id = $2;

-- name: restamp_execution
-- The definition by which the next attempt runs.
UPDATE tickwell.execution SET job_version = $1, queue = $2, ability = $3, gate_limit = $4
WHERE id = $5;

-- name: payload
-- The payload that an execution brings itself.
SELECT payload FROM tickwell.execution WHERE id = $1;
