-- Pruning, and the store itself.

-- name: time
-- The server's time in milliseconds.
SELECT floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint;

-- name: jobs_to_prune
-- Jobs that may have something past its retention; what somebody else works on is left alone.
SELECT job::text, version, keep, prune_at FROM tickwell.cursor
WHERE prune_at <= $1 AND (prune_at, job) > ($3::bigint, $4::uuid)
ORDER BY prune_at, job LIMIT $2 FOR NO KEY UPDATE SKIP LOCKED;

-- name: past_age
-- Ended executions of a job past its retention.
SELECT id::text FROM tickwell.execution
WHERE job = $1 AND state IS NOT NULL
  AND ended_at + CASE WHEN state = 6 THEN $3::bigint ELSE $4::bigint END <= $2
ORDER BY id LIMIT $5;

-- name: past_count
-- Ended executions of a job beyond the newest that are kept; dead letters have their own time.
SELECT id::text FROM tickwell.execution
WHERE job = $1 AND state IS NOT NULL AND state <> 6
ORDER BY id DESC LIMIT $2 OFFSET $3;

-- name: look_again
-- When something of these jobs may be past its retention next: soon where more are on record than
-- are kept, since those that are live count when they end; later with many dead letters, since
-- all of them are passed over. Else by age, and what is live has not even ended.
UPDATE tickwell.cursor SET prune_at = CASE
    WHEN cursor.made > cursor.keep THEN $1 + 5 * greatest(cursor.made - cursor.keep - 1000, 0)
    ELSE (
    SELECT min(CASE execution.state WHEN 6 THEN execution.ended_at + looked_at.dead
                                    ELSE coalesce(execution.ended_at + looked_at.age,
                                                  $1 + least(looked_at.dead, looked_at.age)) END)
    FROM tickwell.execution WHERE execution.job = cursor.job
) END
FROM unnest($2::uuid[], $3::bigint[], $4::bigint[]) AS looked_at (job, dead, age)
WHERE cursor.job = looked_at.job;

-- name: prune_executions
-- Delete executions with all that belongs to them; what is gone, by job, project and state.
WITH gone AS (
    DELETE FROM tickwell.execution WHERE id = ANY ($1::uuid[]) RETURNING job, project, state
),
attempts AS (
    DELETE FROM tickwell.attempt WHERE execution = ANY ($1::uuid[])
),
steps AS (
    DELETE FROM tickwell.step WHERE execution = ANY ($1::uuid[])
),
unique_runs AS (
    DELETE FROM tickwell.unique_run WHERE execution = ANY ($1::uuid[])
)
SELECT job::text, project, state, count(*) FROM gone GROUP BY 1, 2, 3;

-- name: uncount_made
-- Executions that are not on record any more.
UPDATE tickwell.cursor SET made = made - gone.count
FROM unnest($1::bigint[], $2::uuid[]) AS gone (count, job) WHERE cursor.job = gone.job;

-- name: keep_skips
-- A new retention holds for the skips of a job as well.
UPDATE tickwell.skip SET prune_at = last + $1 WHERE job = $2;

-- name: old_skips
-- Range skips past their job's retention.
DELETE FROM tickwell.skip WHERE ctid = ANY (ARRAY(
    SELECT ctid FROM tickwell.skip WHERE prune_at < $1 LIMIT $2 FOR UPDATE SKIP LOCKED
));

-- name: edited_jobs
-- Jobs with more former definitions than are kept in any case.
SELECT job::text, version FROM tickwell.cursor WHERE version > 101 ORDER BY job;

-- name: old_versions
-- The oldest definitions of a job up to a version, oldest first.
SELECT key, document FROM tickwell.record
WHERE kind = 'job_version' AND project = $1 AND key >= $2 AND key <= $3 ORDER BY key LIMIT $4;

-- name: drop_versions
-- Definitions that nobody needs any more.
DELETE FROM tickwell.record
WHERE kind = 'job_version' AND project = $1 AND key = ANY ($2::text[]);

-- name: expired_records
-- Records past their time.
DELETE FROM tickwell.record WHERE ctid = ANY (ARRAY(
    SELECT ctid FROM tickwell.record WHERE expires_at <= $1 LIMIT $2 FOR UPDATE SKIP LOCKED
));

-- name: prune_workers
-- Workers long gone that hold nothing.
DELETE FROM tickwell.worker WHERE id = ANY (ARRAY(
    SELECT id FROM tickwell.worker WHERE lost AND seen_at <= $1
    AND NOT EXISTS (SELECT 1 FROM tickwell.running WHERE running.worker = worker.id) LIMIT $2
));

-- name: gone_jobs
-- Deleted jobs without history.
SELECT job::text FROM tickwell.cursor
WHERE state = 3 AND NOT EXISTS (SELECT 1 FROM tickwell.execution WHERE execution.job = cursor.job)
LIMIT $1 FOR UPDATE SKIP LOCKED;

-- name: prune_jobs
-- Their definitions.
DELETE FROM tickwell.job WHERE id = ANY ($1::uuid[]) RETURNING id::text, project;

-- name: prune_cursors
-- Their cursors.
DELETE FROM tickwell.cursor WHERE job = ANY ($1::uuid[]);

-- name: prune_skips
-- Their skips.
DELETE FROM tickwell.skip WHERE job = ANY ($1::uuid[]);

-- name: prune_versions
-- Their earlier definitions.
DELETE FROM tickwell.record USING unnest($1::text[], $2::text[]) AS gone (id, project)
WHERE record.kind = 'job_version' AND record.project = gone.project
  AND record.key >= gone.id || '/' AND record.key < gone.id || '0';

-- name: prune_gates
-- Gates that nobody is in; one that somebody is about to enter is left alone.
DELETE FROM tickwell.gate WHERE name = ANY (ARRAY(
    SELECT name FROM tickwell.gate WHERE held = 0 LIMIT $1 FOR UPDATE SKIP LOCKED
));

-- name: prune_rates
-- Rates of which every permit can be had again.
DELETE FROM tickwell.rate WHERE name = ANY (ARRAY(
    SELECT name FROM tickwell.rate WHERE until <= $1 LIMIT $2 FOR UPDATE SKIP LOCKED
));
