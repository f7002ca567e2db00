-- The ends of attempts.

-- name: reported
-- The running executions among these that hold no permit and were not called off.
-- As one JSON array: the index of each report, and what fences its end.
SELECT json_group_array(json_array(
    wanted.key, running.key, running.attempt, running.worker, cursor.version
))
FROM json_each(?1) AS wanted
CROSS JOIN execution ON execution.id = wanted.value
CROSS JOIN running ON running.key = execution.key
CROSS JOIN cursor ON cursor.job = running.job
WHERE running.gate IS NULL AND NOT running.holds_job AND NOT running.called_off;

-- name: running_rows
-- The running executions among these, with what a plain end depends on. As one JSON array.
SELECT json_group_array(json_array(
    wanted.value, cursor.id, running.attempt, running.worker, running.holds_job, running.gate,
    running.cancel, running.called_off
))
FROM json_each(?1) AS wanted
CROSS JOIN execution ON execution.id = wanted.value
CROSS JOIN running ON running.key = execution.key
CROSS JOIN cursor ON cursor.job = running.job;

-- name: running_details
-- The same with all that it takes to try again, or to decide one by one.
SELECT execution.id, cursor.id, running.attempt, running.worker, running.holds_job, running.gate,
       running.cancel, running.called_off, running.run_at, running.rank, execution.kind,
       execution.job_version, execution.fire_time, execution.overlap, execution.queue,
       execution.ability, execution.gate, execution.gate_limit,
       coalesce(length(execution.payload), 0), running.expires_at, execution.reason
FROM json_each(?1) AS wanted
CROSS JOIN execution ON execution.id = wanted.value
CROSS JOIN running ON running.key = execution.key
CROSS JOIN cursor ON cursor.job = running.job;

-- name: stop
-- They are running no more.
DELETE FROM running WHERE key IN (
    SELECT execution.key FROM json_each(?1) AS ended
    CROSS JOIN execution ON execution.id = ended.value
);

-- name: drop_running
-- The same by their keys.
DELETE FROM running WHERE key IN (SELECT value FROM json_each(?1));

-- name: end_by_key
-- The ends of executions with their last attempts.
-- What they have in common, then the rest of each in a row: 14 columns there took 2 µs more than 5.
UPDATE execution SET state = ?, outcome = ?, reason = ?, charged = ?, lost = ?, returned = ?,
                     attempt = ?, worker = ?,
                     started_at = ended.column1, ended_at = ended.column2, error = ended.column3,
                     result = ended.column4
FROM (VALUES {rows}) AS ended WHERE execution.key = ended.column5;

-- name: end_by_id
-- The same by their ids, with the workers of the running rows.
UPDATE execution INDEXED BY execution_id SET state = ?, outcome = ?, reason = ?, charged = ?, lost = ?, returned = ?,
                     attempt = ?,
                     worker = (SELECT running.worker FROM running WHERE running.key = execution.key),
                     started_at = ended.column1, ended_at = ended.column2, error = ended.column3,
                     result = ended.column4
FROM (VALUES {rows}) AS ended WHERE execution.id = ended.column5;

-- name: pass_job_on
-- Give the gates of these jobs to the best of those before them, or to nobody.
UPDATE cursor SET holder = (
    SELECT queue.key FROM queue WHERE queue.job = cursor.job AND queue.waits = 1
    ORDER BY queue.rank, queue.id LIMIT 1
)
WHERE job IN (SELECT job.key FROM json_each(?1) AS freed CROSS JOIN job ON job.id = freed.value)
RETURNING id, (SELECT queue.id FROM queue WHERE queue.key = holder);

-- name: queue_holders
-- Those that were given their job's gate and pass no other are queued.
UPDATE queue SET state = 2, waits = 0, holds_job = 1
WHERE gate IS NULL AND key IN (
    SELECT execution.key FROM json_each(?1) AS wanted
    CROSS JOIN execution ON execution.id = wanted.value
);

-- name: keyed_holders
-- Those that were given their job's gate and stand before another one now.
SELECT cursor.id, queue.rank, queue.id, queue.gate, queue.gate_limit FROM json_each(?1) AS wanted
CROSS JOIN execution ON execution.id = wanted.value
CROSS JOIN queue ON queue.key = execution.key
CROSS JOIN cursor ON cursor.job = queue.job WHERE queue.gate IS NOT NULL;

-- name: best_before_gates
-- The best of those before a concurrency gate, so many of them.
SELECT rank, id, gate, gate_limit FROM queue INDEXED BY queue_gate
WHERE waits = 2 AND gate = ?1 ORDER BY rank, id LIMIT ?2;

-- name: move_keyed
-- Where executions before concurrency gates stand now; those with their jobs' gates keep them.
UPDATE queue SET state = ?1, waits = ?2, holds_key = ?3, holds_job = max(holds_job, ?4)
WHERE key = (SELECT key FROM execution WHERE id = ?5);

-- name: gates_behind
-- The concurrency gates that the best of those before the gates of these jobs passes next.
SELECT best.gate FROM (
    SELECT (SELECT queue.gate FROM queue WHERE queue.job = job.key AND queue.waits = 1
            ORDER BY queue.rank, queue.id LIMIT 1) AS gate
    FROM json_each(?1) AS wanted CROSS JOIN job ON job.id = wanted.value
) AS best
WHERE best.gate IS NOT NULL;

-- name: drop_put_off
-- Attempts that were put off before ones that are put off as well: 4 is released.
DELETE FROM attempt
WHERE execution = (SELECT key FROM execution WHERE id = ?1) AND number = ?2 AND outcome = 4
  AND started_at IS NULL;

-- name: insert_attempts
-- Attempts that another one follows.
INSERT INTO attempt (execution, number, outcome, worker, started_at, ended_at, error, result)
VALUES ((SELECT key FROM execution WHERE id = ?1), ?2, ?3, ?4, ?5, ?6, ?7, ?8);

-- name: go_on
-- An execution that is tried again.
UPDATE execution SET attempt = ?1, charged = ?2, lost = ?3, returned = ?4, started_at = ?5,
                     error = ?6, result = ?7, run_at = ?8
WHERE id = ?9;

-- name: insert_again
-- Put executions back into the queue.
INSERT INTO queue (key, id, job, state, queue, ability, kind, fire_time, run_at, rank, look_at,
                   expires_at, overlap, gate, gate_limit, holds_job, attempt, charged, lost,
                   returned, own_payload)
SELECT execution.key, ?1, execution.job, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15,
       ?16, ?17, ?18, ?19, ?20
FROM execution WHERE execution.id = ?1 AND ?2 IS NOT NULL;

-- name: set_failures
-- Dead executions in a row.
UPDATE cursor SET failures = ?1 WHERE job = (SELECT key FROM job WHERE id = ?2);

-- name: was_applied
-- Which of these attempts are on record with this end.
SELECT json_extract(report.value, '$[0]') FROM json_each(?1) AS report
CROSS JOIN execution ON execution.id = json_extract(report.value, '$[1]')
LEFT JOIN attempt ON attempt.execution = execution.key
    AND attempt.number = json_extract(report.value, '$[2]')
WHERE (attempt.ended_at = json_extract(report.value, '$[3]')
       AND attempt.outcome = json_extract(report.value, '$[4]'))
   OR (execution.outcome = json_extract(report.value, '$[4]')
       AND execution.attempt = json_extract(report.value, '$[2]')
       AND execution.ended_at = json_extract(report.value, '$[3]'));

-- name: failures_of
-- Dead executions in a row of jobs.
SELECT cursor.id, cursor.failures FROM json_each(?1) AS wanted
CROSS JOIN job ON job.id = wanted.value CROSS JOIN cursor ON cursor.job = job.key;
