-- Pruning.

-- name: past_age
-- Ended executions past their job's retention.
SELECT key FROM execution INDEXED BY execution_prune WHERE prune_at <= ? LIMIT ?;

-- name: jobs_over
-- Jobs with more executions on record than are to be kept.
SELECT job, keep, made FROM cursor INDEXED BY cursor_over WHERE made > keep;

-- name: past_count
-- Ended executions of a job beyond the newest that are kept; dead letters have their own time.
SELECT key FROM execution INDEXED BY execution_job
WHERE job = ? AND state IS NOT NULL AND state <> 6
ORDER BY id DESC LIMIT ? OFFSET ?;

-- name: count_pruned
-- Executions that are about to go, by job, project and state.
SELECT execution.job, execution.project, execution.state, count(*) FROM json_each(?) AS wanted
CROSS JOIN execution ON execution.key = wanted.value GROUP BY 1, 2, 3;

-- name: uncount_made
-- Executions that are not on record any more.
UPDATE cursor SET made = made - ? WHERE job = ?;

-- name: prune_attempts
-- Their attempts.
DELETE FROM attempt WHERE execution IN (SELECT value FROM json_each(?));

-- name: prune_executions
-- The executions themselves.
DELETE FROM execution WHERE key IN (SELECT value FROM json_each(?));

-- name: keep_skips
-- A new retention holds for the skips of a job as well.
UPDATE skip SET prune_at = last + ? WHERE job = ?;

-- name: old_skips
-- Range skips past their job's retention.
DELETE FROM skip WHERE rowid IN (
    SELECT rowid FROM skip INDEXED BY skip_prune WHERE prune_at < ? LIMIT ?
);

-- name: edited_jobs
-- Jobs with more former definitions than are kept in any case.
SELECT job, id, version FROM cursor INDEXED BY cursor_edited WHERE version > 101;

-- name: old_versions
-- The oldest definitions of a job up to a version, oldest first.
SELECT key, document FROM record
WHERE kind = 'job_version' AND project = ? AND key >= ? AND key <= ? ORDER BY key LIMIT ?;

-- name: drop_versions
-- Definitions that nobody needs any more.
DELETE FROM record
WHERE kind = 'job_version' AND project = ? AND key IN (SELECT value FROM json_each(?));

-- name: expired_records
-- Records past their time.
DELETE FROM record WHERE (kind, project, key) IN (
    SELECT kind, project, key FROM record INDEXED BY record_expire WHERE expires_at <= ? LIMIT ?
);

-- name: prune_workers
-- Workers long gone that hold nothing.
DELETE FROM worker WHERE id IN (
    SELECT id FROM worker WHERE lost AND seen_at <= ?
    AND NOT EXISTS (SELECT 1 FROM running WHERE running.worker = worker.id) LIMIT ?
);

-- name: gone_jobs
-- Deleted jobs without history.
SELECT cursor.job, cursor.id FROM cursor INDEXED BY cursor_deleted
WHERE cursor.state = 3 AND NOT EXISTS (SELECT 1 FROM execution WHERE execution.job = cursor.job)
LIMIT ?;

-- name: prune_jobs
-- The definition of a job that is gone.
DELETE FROM job WHERE key = ? RETURNING project;

-- name: prune_cursors
-- Its cursor.
DELETE FROM cursor WHERE job = ?;

-- name: prune_skips
-- Its skips.
DELETE FROM skip WHERE job = ?;

-- name: prune_versions
-- Its earlier definitions.
DELETE FROM record WHERE kind = 'job_version' AND project = ? AND key >= ? AND key < ?;
