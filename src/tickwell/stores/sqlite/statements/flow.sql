-- Single moves of executions between states; batches that need no gate have their own statements.
-- The write lock of the file is the lock of every job and gate.

-- name: lock_jobs
-- What gates and ends depend on.
SELECT cursor.id, cursor.version, cursor.state, cursor.failures,
       (SELECT execution.id FROM execution WHERE execution.key = cursor.holder)
FROM json_each(?1) AS wanted CROSS JOIN job ON job.id = wanted.value
CROSS JOIN cursor ON cursor.job = job.key;

-- name: gates_of_jobs
-- The concurrency gates that pending executions of these jobs pass.
SELECT DISTINCT queue.gate FROM json_each(?1) AS wanted CROSS JOIN job ON job.id = wanted.value
CROSS JOIN queue INDEXED BY queue_job ON queue.job = job.key WHERE queue.gate IS NOT NULL;

-- name: lock_gates
-- Permits held in concurrency gates; a gate in which none is held has no row.
SELECT wanted.value, coalesce(gate.held, 0) FROM json_each(?1) AS wanted
LEFT JOIN gate ON gate.name = wanted.value;

-- name: load_pending
-- A pending execution by its id.
SELECT queue.id, cursor.id, queue.state, queue.queue, queue.ability, queue.kind, queue.fire_time,
       queue.run_at, queue.rank, queue.look_at, queue.expires_at, queue.overlap, queue.gate,
       queue.gate_limit, queue.waits, queue.holds_job, queue.holds_key, queue.attempt,
       queue.charged, queue.lost, queue.returned, queue.own_payload
FROM execution CROSS JOIN queue ON queue.key = execution.key
CROSS JOIN cursor ON cursor.job = queue.job WHERE execution.id = ?1;

-- name: save_pending
-- Where a pending execution stands now.
UPDATE queue SET state = ?1, waits = ?2, queue = ?3, ability = ?4, run_at = ?5, rank = ?6,
                 look_at = ?7, gate_limit = ?8, holds_job = ?9, holds_key = ?10
WHERE key = (SELECT key FROM execution WHERE id = ?11);

-- name: drop_pending
-- It is pending no more.
DELETE FROM queue WHERE key = (SELECT key FROM execution WHERE id = ?1);

-- name: end_pending
-- End an execution that was not running.
UPDATE execution SET state = ?1, reason = ?2, ended_at = ?3 WHERE id = ?4;

-- name: count_ended
-- Keep the number of ended executions.
INSERT INTO tally (project, state, count) VALUES (?1, ?2, ?3)
ON CONFLICT (project, state) DO UPDATE SET count = count + excluded.count;

-- name: job_document
-- The definition of a job.
SELECT document FROM job WHERE id = ?1;

-- name: set_holder
-- Give a job's own gate to an execution, or to nobody.
UPDATE cursor SET holder = (SELECT key FROM execution WHERE id = ?1)
WHERE job = (SELECT key FROM job WHERE id = ?2);

-- name: best_before_job
-- The best of those before a job's own gate.
SELECT id FROM queue WHERE job = (SELECT key FROM job WHERE id = ?1) AND waits = 1
ORDER BY rank, id LIMIT 1;

-- name: blocked_before_job
-- Those that wait for a job's own gate past their instant, and that a newer one replaces.
SELECT id FROM queue WHERE job = (SELECT key FROM job WHERE id = ?1) AND waits = 1 AND state = 1
  AND overlap <> 2 ORDER BY id;

-- name: set_gate
-- The permits held in a concurrency gate.
INSERT INTO gate (name, held) VALUES (?1, ?2)
ON CONFLICT (name) DO UPDATE SET held = excluded.held;

-- name: drop_gate
-- A concurrency gate in which no permit is held.
DELETE FROM gate WHERE name = ?1;

-- name: rates
-- When permits of rates that were used can be had again.
SELECT rate.name, rate.free FROM json_each(?1) AS wanted CROSS JOIN rate ON rate.name = wanted.value;

-- name: set_rates
-- The same as it is now, and the last of each.
INSERT INTO rate (name, free, until) VALUES (?1, ?2, ?3)
ON CONFLICT (name) DO UPDATE SET free = excluded.free, until = excluded.until;

-- name: best_before_gate
-- The best of those before a concurrency gate.
SELECT id FROM queue WHERE waits = 2 AND gate = ?1 ORDER BY rank, id LIMIT 1;

-- name: count_from_end
-- The next fire of a job that counts from the end of its run.
UPDATE cursor SET after = max(after, ?1) WHERE job = (SELECT key FROM job WHERE id = ?2);

-- name: give_runs_back
-- Executions that did not come to be do not count.
UPDATE cursor SET runs = runs - ?1 WHERE job = (SELECT key FROM job WHERE id = ?2);

-- name: nudge
-- Let the planner look at the job, unless it is paused, deleted or has had all its runs.
UPDATE cursor SET state = 0, next_fire_time = ?2, nudged = 1
WHERE job = (SELECT key FROM job WHERE id = ?1) AND state IN (0, 2)
  AND (?3 IS NULL OR runs < ?3);

-- name: ask_running
-- Ask the worker of a running execution to stop.
UPDATE running SET cancel = 1, called_off = 0
WHERE key = (SELECT key FROM execution WHERE id = ?1);

-- name: set_run_at
-- When an execution may start, as people see it.
UPDATE execution SET run_at = ?1 WHERE id = ?2;

-- name: hold_execution
-- An execution that waits until its job is resumed.
UPDATE execution SET run_at = ?1, reason = NULL WHERE id = ?2;

-- name: restamp_execution
-- The definition by which the next attempt runs.
UPDATE execution SET job_version = ?1, queue = ?2, ability = ?3, gate_limit = ?4 WHERE id = ?5;

-- name: payload
-- The payload that an execution brings itself.
SELECT payload FROM execution WHERE id = ?1;
