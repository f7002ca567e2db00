-- Pruning.

-- name: jobs_to_prune
-- Jobs that may have something past its retention.
SELECT id, version, keep, prune_at FROM cursor INDEXED BY cursor_prune
WHERE prune_at <= ?1 AND (prune_at, id) > (?3, ?4) ORDER BY prune_at, id LIMIT ?2;

-- name: past_age
-- Ended executions of a job past its retention.
SELECT id FROM execution INDEXED BY execution_job
WHERE job = (SELECT key FROM job WHERE id = ?1) AND state IS NOT NULL
  AND ended_at + iif(state = 6, ?3, ?4) <= ?2
ORDER BY id LIMIT ?5;

-- name: past_count
-- Ended executions of a job beyond the newest that are kept; dead letters have their own time.
SELECT id FROM execution INDEXED BY execution_job
WHERE job = (SELECT key FROM job WHERE id = ?1) AND state IS NOT NULL AND state <> 6
ORDER BY id DESC LIMIT ?2 OFFSET ?3;

-- name: look_again
-- When something of a job may be past its retention next.
-- Soon where more are on record than are kept, since those that are live count when they end; later
-- with many dead letters, since all of them are passed over. Else by age, and what is live has not
-- even ended.
UPDATE cursor SET prune_at = iif(
    made > keep, ?1 + 5 * max(made - keep - 1000, 0),
    (SELECT min(iif(execution.state = 6, execution.ended_at + ?3,
                    coalesce(execution.ended_at + ?4, ?1 + min(?3, ?4))))
     FROM execution INDEXED BY execution_job WHERE execution.job = cursor.job)
)
WHERE job = (SELECT key FROM job WHERE id = ?2);

-- name: count_pruned
-- Executions that are about to go, by job, project and state.
SELECT cursor.id, execution.project, execution.state, count(*) FROM json_each(?1) AS wanted
CROSS JOIN execution ON execution.id = wanted.value
CROSS JOIN cursor ON cursor.job = execution.job GROUP BY 1, 2, 3;

-- name: prune_attempts
-- Their attempts.
DELETE FROM attempt WHERE execution IN (
    SELECT execution.key FROM json_each(?1) AS gone
    CROSS JOIN execution ON execution.id = gone.value
);

-- name: prune_steps
-- Their steps.
DELETE FROM step WHERE execution IN (
    SELECT execution.key FROM json_each(?1) AS gone
    CROSS JOIN execution ON execution.id = gone.value
);

-- name: prune_unique
-- What later requests find of them.
DELETE FROM unique_run WHERE execution IN (
    SELECT execution.key FROM json_each(?1) AS gone
    CROSS JOIN execution ON execution.id = gone.value
);

-- name: drop_executions
-- The executions themselves.
DELETE FROM execution WHERE id IN (SELECT value FROM json_each(?1));

-- name: uncount_made
-- Executions that are not on record any more.
UPDATE cursor SET made = made - ?1 WHERE job = (SELECT key FROM job WHERE id = ?2);

-- name: keep_skips
-- A new retention holds for the skips of a job as well.
UPDATE skip SET prune_at = last + ?1 WHERE job = (SELECT key FROM job WHERE id = ?2);

-- name: old_skips
-- Range skips past their job's retention.
DELETE FROM skip WHERE rowid IN (
    SELECT rowid FROM skip INDEXED BY skip_prune WHERE prune_at < ?1 LIMIT ?2
);

-- name: edited_jobs
-- Jobs with more former definitions than are kept in any case.
SELECT id, version FROM cursor INDEXED BY cursor_edited WHERE version > 101;

-- name: old_versions
-- The oldest definitions of a job up to a version, oldest first.
SELECT key, document FROM record
WHERE kind = 'job_version' AND project = ?1 AND key >= ?2 AND key <= ?3 ORDER BY key LIMIT ?4;

-- name: drop_versions
-- Definitions that are not needed any more.
DELETE FROM record
WHERE kind = 'job_version' AND project = ?1 AND key IN (SELECT value FROM json_each(?2));

-- name: expired_records
-- Records past their time.
DELETE FROM record WHERE (kind, project, key) IN (
    SELECT kind, project, key FROM record INDEXED BY record_expire WHERE expires_at <= ?1 LIMIT ?2
);

-- name: prune_workers
-- Workers long gone that hold nothing.
DELETE FROM worker WHERE id IN (
    SELECT id FROM worker WHERE lost AND seen_at <= ?1
    AND NOT EXISTS (SELECT 1 FROM running WHERE running.worker = worker.id) LIMIT ?2
);

-- name: gone_jobs
-- Deleted jobs without history.
SELECT cursor.id FROM cursor INDEXED BY cursor_deleted
WHERE cursor.state = 3 AND NOT EXISTS (SELECT 1 FROM execution WHERE execution.job = cursor.job)
LIMIT ?1;

-- name: prune_cursors
-- Their cursors.
DELETE FROM cursor WHERE job IN (
    SELECT job.key FROM json_each(?1) AS gone CROSS JOIN job ON job.id = gone.value
);

-- name: prune_skips
-- Their skips.
DELETE FROM skip WHERE job IN (
    SELECT job.key FROM json_each(?1) AS gone CROSS JOIN job ON job.id = gone.value
);

-- name: prune_jobs
-- Their definitions.
DELETE FROM job WHERE id IN (SELECT value FROM json_each(?1)) RETURNING id, project;

-- name: prune_versions
-- Their earlier definitions.
DELETE FROM record WHERE kind = 'job_version' AND project = ?2
  AND key >= ?1 || '/' AND key < ?1 || '0';

-- name: prune_rates
-- Rates of which every permit can be had again.
DELETE FROM rate WHERE name IN (SELECT name FROM rate WHERE until <= ?1 LIMIT ?2);
