-- The ends of attempts.

-- name: standing
-- The running executions among these: the place of each, and what its end depends on.
-- As one JSON array.
SELECT json_group_array(json_array(
    wanted.key, running.key, running.job, running.attempt, running.holds_job, running.gate,
    running.called_off, cursor.version, cursor.failures
))
FROM json_each(?) AS wanted
CROSS JOIN execution ON execution.id = wanted.value
CROSS JOIN running ON running.key = execution.key
CROSS JOIN cursor ON cursor.job = running.job;

-- name: standing_details
-- The same with all that it takes to try again, or to decide by itself.
SELECT running.key, running.job, running.attempt, running.holds_job, running.gate,
       running.called_off, cursor.version, cursor.failures, running.cancel, running.run_at,
       running.rank, execution.kind, execution.job_version, execution.fire_time, execution.overlap,
       execution.queue, execution.ability, execution.gate, execution.gate_limit,
       coalesce(length(execution.payload), 0), cursor.state, running.expires_at,
       execution.reason
FROM json_each(?) AS wanted
CROSS JOIN running ON running.key = wanted.value
CROSS JOIN execution ON execution.key = running.key
CROSS JOIN cursor ON cursor.job = running.job;

-- name: stop
-- They are running no more.
DELETE FROM running WHERE key IN (SELECT value FROM json_each(?));

-- name: end_executions
-- The ends of executions with their last attempts.
-- What they have in common, then the rest of each in a row: 14 columns there took 2 µs more than 5.
UPDATE execution SET state = ?, outcome = ?, reason = ?, charged = ?, lost = ?, returned = ?,
                     attempt = ?, worker = ?, prune_at = ended.column2 + ?,
                     started_at = ended.column1, ended_at = ended.column2, error = ended.column3,
                     result = ended.column4
FROM (VALUES {rows}) AS ended WHERE execution.key = ended.column5;

-- name: pass_job_on
-- Give the gates of these jobs to the best of those before them, or to nobody.
UPDATE cursor SET holder = (
    SELECT queue.key FROM queue WHERE queue.job = cursor.job AND queue.waits = 1
    ORDER BY queue.rank, queue.id LIMIT 1
)
WHERE job IN (SELECT value FROM json_each(?)) RETURNING job, holder;

-- name: queue_holders
-- Those that were given their job's gate and pass no other are queued.
UPDATE queue SET state = 2, waits = 0, holds_job = 1
WHERE key IN (SELECT value FROM json_each(?)) AND gate IS NULL;

-- name: keyed_holders
-- Those that were given their job's gate and stand before another one now.
SELECT queue.key, queue.job FROM json_each(?) AS wanted
CROSS JOIN queue ON queue.key = wanted.value WHERE queue.gate IS NOT NULL;

-- name: drop_put_off
-- Attempts that were put off before ones that are put off as well: 4 is released.
DELETE FROM attempt
WHERE execution = ? AND number = ? AND outcome = 4 AND started_at IS NULL;

-- name: insert_attempts
-- Attempts that another one follows.
INSERT INTO attempt (execution, number, outcome, worker, started_at, ended_at, error, result)
VALUES (?, ?, ?, ?, ?, ?, ?, ?);

-- name: go_on
-- An execution that is tried again.
UPDATE execution SET attempt = ?, charged = ?, lost = ?, returned = ?, started_at = ?, error = ?,
                     result = ?, run_at = ?
WHERE key = ?;

-- name: set_failures
-- Dead executions in a row.
UPDATE cursor SET failures = ? WHERE job = ?;

-- name: was_applied
-- Whether an attempt is on record with this end.
SELECT 1 FROM execution LEFT JOIN attempt
    ON attempt.execution = execution.key AND attempt.number = ?
WHERE execution.id = ? AND (
    (attempt.ended_at = ? AND attempt.outcome = ?)
    OR (execution.outcome = ? AND execution.attempt = ? AND execution.ended_at = ?)
);

-- name: failures_of
-- Dead executions in a row of a job.
SELECT failures FROM cursor JOIN job ON job.key = cursor.job WHERE job.id = ?;
