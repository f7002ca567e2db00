-- Pruning, and the store itself.

-- name: time
-- The server's time in milliseconds.
SELECT CAST(UNIX_TIMESTAMP(SYSDATE(3)) * 1000 AS SIGNED);

-- name: probe
-- Whether we have all rights to a table; no row is met.
SELECT 1 FROM {table} WHERE FALSE;
INSERT INTO {table} SELECT * FROM {table} WHERE FALSE;
UPDATE {table} SET {column} = {column} WHERE FALSE;
DELETE FROM {table} WHERE FALSE;

-- name: jobs_to_prune
-- Jobs that may have something past its retention; what somebody else works on is left alone.
SELECT job, version, keep, prune_at FROM tickwell_cursor FORCE INDEX (cursor_prune)
WHERE prune_at <= $1 AND prune_at >= $3 AND (prune_at > $3 OR job > $4)
ORDER BY prune_at, job LIMIT $2 FOR UPDATE SKIP LOCKED;

-- name: past_age
-- Ended executions of a job past its retention.
SELECT id FROM tickwell_execution FORCE INDEX (execution_job)
WHERE job = $1 AND state IS NOT NULL AND ended_at + IF(state = 6, $3, $4) <= $2
ORDER BY id LIMIT $5;

-- name: past_count
-- Ended executions of a job beyond the newest that are kept; dead letters have their own time.
SELECT id FROM tickwell_execution FORCE INDEX (execution_job)
WHERE job = $1 AND state IS NOT NULL AND state <> 6 ORDER BY id DESC LIMIT $2 OFFSET $3;

-- name: look_again
-- When something of these jobs may be past its retention next: soon where more are on record than
-- are kept, since those that are live count when they end; later with many dead letters, since
-- all of them are passed over. Else by age, and what is live has not even ended.
UPDATE ROWS($2, job ID, dead INT, age INT) AS looked_at
STRAIGHT_JOIN tickwell_cursor AS head FORCE INDEX (PRIMARY) ON head.job = looked_at.job
SET head.prune_at = CASE
    WHEN head.made > head.keep THEN $1 + 5 * GREATEST(head.made - head.keep - 1000, 0)
    ELSE (
    SELECT MIN(CASE execution.state
               WHEN 6 THEN execution.ended_at + looked_at.dead
               ELSE COALESCE(execution.ended_at + looked_at.age,
                             $1 + LEAST(looked_at.dead, looked_at.age)) END)
    FROM tickwell_execution AS execution FORCE INDEX (execution_job)
    WHERE execution.job = head.job
) END;

-- name: prune_executions
-- Delete executions with all that belongs to them; what is gone, by job, project and state.
SELECT job, project, state, COUNT(*) FROM tickwell_execution FORCE INDEX (PRIMARY)
WHERE id IN $1[] GROUP BY job, project, state;
DELETE execution FROM ROWS($1, id ID) AS gone
STRAIGHT_JOIN tickwell_execution AS execution FORCE INDEX (PRIMARY) ON execution.id = gone.id;
DELETE attempt FROM ROWS($1, id ID) AS gone
STRAIGHT_JOIN tickwell_attempt AS attempt FORCE INDEX (PRIMARY) ON attempt.execution = gone.id;
DELETE step FROM ROWS($1, id ID) AS gone
STRAIGHT_JOIN tickwell_step AS step FORCE INDEX (PRIMARY) ON step.execution = gone.id;
DELETE same FROM ROWS($1, id ID) AS gone
STRAIGHT_JOIN tickwell_unique_run AS same FORCE INDEX (PRIMARY) ON same.execution = gone.id;

-- name: uncount_made
-- Executions that are not on record any more.
UPDATE ROWS($1, count INT, job ID) AS gone
STRAIGHT_JOIN tickwell_cursor AS head FORCE INDEX (PRIMARY) ON head.job = gone.job
SET head.made = head.made - gone.count;

-- name: keep_skips
-- A new retention holds for the skips of a job as well.
UPDATE tickwell_skip SET prune_at = last + $1 WHERE job = $2;

-- name: old_skips
-- Range skips past their job's retention.
DELETE FROM tickwell_skip WHERE prune_at < $1 ORDER BY prune_at LIMIT $2;

-- name: edited_jobs
-- Jobs with more former definitions than are kept in any case.
SELECT job, version FROM tickwell_cursor WHERE version > 101 ORDER BY job;

-- name: old_versions
-- The oldest definitions of a job up to a version, oldest first.
SELECT name, document FROM tickwell_record
WHERE kind = 'job_version' AND project = $1 AND name >= $2 AND name <= $3 ORDER BY name LIMIT $4;

-- name: drop_versions
-- Definitions that nobody needs any more.
DELETE record FROM ROWS($2, name NAME) AS gone STRAIGHT_JOIN tickwell_record AS record
  ON record.kind = 'job_version' AND record.project = $1 AND record.name = gone.name;

-- name: expired_records
-- Records past their time.
DELETE FROM tickwell_record WHERE expires_at <= $1 ORDER BY expires_at LIMIT $2;

-- name: prune_workers
-- Workers long gone that hold nothing.
DELETE FROM tickwell_worker WHERE lost AND seen_at <= $1
AND NOT EXISTS (SELECT 1 FROM tickwell_running AS running
                WHERE running.worker = tickwell_worker.id) LIMIT $2;

-- name: gone_jobs
-- Deleted jobs without history.
SELECT head.job FROM tickwell_cursor AS head FORCE INDEX (cursor_state)
WHERE head.state = 3 AND NOT EXISTS (SELECT 1 FROM tickwell_execution AS execution
                                     WHERE execution.job = head.job)
LIMIT $1 FOR UPDATE SKIP LOCKED;

-- name: prune_jobs
-- Their definitions.
SELECT job.id, job.project FROM ROWS($1, id ID) AS gone
STRAIGHT_JOIN tickwell_job AS job FORCE INDEX (PRIMARY) ON job.id = gone.id FOR UPDATE;
DELETE job FROM ROWS($1, id ID) AS gone
STRAIGHT_JOIN tickwell_job AS job FORCE INDEX (PRIMARY) ON job.id = gone.id;

-- name: prune_cursors
-- Their cursors.
DELETE head FROM ROWS($1, id ID) AS gone
STRAIGHT_JOIN tickwell_cursor AS head FORCE INDEX (PRIMARY) ON head.job = gone.id;

-- name: prune_skips
-- Their skips.
DELETE skip FROM ROWS($1, id ID) AS gone
STRAIGHT_JOIN tickwell_skip AS skip FORCE INDEX (skip_job) ON skip.job = gone.id;

-- name: prune_versions
-- Their earlier definitions.
DELETE record FROM ROWS($1, id ID, project NAME) AS gone STRAIGHT_JOIN tickwell_record AS record
  ON record.kind = 'job_version' AND record.project = gone.project
 AND record.name >= CONCAT(gone.id, '/') AND record.name < CONCAT(gone.id, '0');

-- name: free_gates
-- Gates that nobody is in; one that somebody is about to enter is left alone.
SELECT name FROM tickwell_gate FORCE INDEX (gate_held) WHERE held = 0
LIMIT $1 FOR UPDATE SKIP LOCKED;

-- name: prune_gates
-- They are gone until somebody passes them again.
DELETE gate FROM ROWS($1, name NAME) AS gone
STRAIGHT_JOIN tickwell_gate AS gate FORCE INDEX (PRIMARY) ON gate.name = gone.name;

-- name: prune_rates
-- Rates of which every permit can be had again.
DELETE FROM tickwell_rate WHERE until <= $1 LIMIT $2;
