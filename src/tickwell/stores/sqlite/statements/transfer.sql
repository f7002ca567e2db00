-- Everything as it is, read and written for a copy.

-- name: read_executions
-- Executions with what the queue knows of them, by id.
SELECT execution.id, execution.project, job.id, execution.job_version, execution.kind,
       coalesce(execution.state, queue.state, 3), execution.fire_time, execution.run_at,
       execution.queue, execution.ability, execution.created_at, execution.payload,
       execution.request_key, coalesce(running.attempt, execution.attempt),
       coalesce(running.charged, execution.charged), coalesce(running.lost, execution.lost),
       coalesce(running.returned, execution.returned), execution.reason,
       coalesce(running.worker, execution.worker), running.deadline, running.cancel,
       CASE WHEN running.attempt IS NULL THEN execution.started_at ELSE running.started_at END,
       execution.ended_at, execution.error, execution.result,
       execution.revived_from, execution.outcome,
       coalesce(queue.overlap, execution.overlap), execution.gate,
       coalesce(queue.gate_limit, execution.gate_limit), same.name,
       coalesce(queue.rank, running.rank, 0), coalesce(queue.expires_at, running.expires_at),
       coalesce(queue.holds_job, running.holds_job, 0), running.claim_id, running.called_off,
       coalesce(queue.waits, 0)
FROM execution INDEXED BY execution_id
CROSS JOIN job ON job.key = execution.job
LEFT JOIN queue ON execution.state IS NULL AND queue.key = execution.key
LEFT JOIN running ON execution.state IS NULL AND running.key = execution.key
LEFT JOIN unique_run AS same ON same.execution = execution.key
WHERE execution.id > ?1 ORDER BY execution.id LIMIT ?2;

-- name: read_attempts
-- Attempts of executions after one and up to another that another attempt followed.
SELECT execution.id, attempt.number, attempt.outcome, attempt.worker, attempt.started_at,
       attempt.ended_at, attempt.error, attempt.result
FROM execution INDEXED BY execution_id CROSS JOIN attempt ON attempt.execution = execution.key
WHERE execution.id > ?1 AND execution.id <= ?2 ORDER BY execution.id, attempt.number;

-- name: read_steps
-- The steps of the same.
SELECT execution.id, step.attempt, step.name, step.written_at, step.is_final, step.document
FROM execution INDEXED BY execution_id CROSS JOIN step ON step.execution = execution.key
WHERE execution.id > ?1 AND execution.id <= ?2;

-- name: restore_executions
-- Executions that are new here.
INSERT INTO execution (
    id, project, job, job_version, kind, fire_time, run_at, queue, ability, created_at, overlap,
    gate, gate_limit, payload, request_key, revived_from, state, attempt, charged, lost,
    returned, outcome, reason, worker, started_at, ended_at, error, result
) VALUES (?1, ?2, (SELECT key FROM job WHERE id = ?3), ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17,
          ?18, ?19, ?20, ?21, ?22, ?23, ?24, ?25, ?26, ?27, ?28);

-- name: restore_pending
-- What the queue knows of those that are pending.
INSERT INTO queue (key, id, job, state, queue, ability, kind, fire_time, run_at, rank, look_at,
                   expires_at, overlap, gate, gate_limit, waits, holds_job, attempt, charged, lost,
                   returned, own_payload)
SELECT key, id, job, ?2, queue, ability, kind, fire_time, run_at, ?4, run_at, ?5, overlap, gate,
       gate_limit, ?3, ?6, attempt, charged, lost, returned, coalesce(length(payload), 0)
FROM execution WHERE id = ?1;

-- name: restore_running
-- Whose those are that run.
INSERT INTO running (key, job, attempt, charged, lost, returned, run_at, rank, expires_at, worker,
                     claim_id, deadline, holds_job, cancel, called_off, started_at)
SELECT key, job, attempt, charged, lost, returned, run_at, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10
FROM execution WHERE id = ?1;

-- name: restore_steps
-- What they have done.
INSERT INTO step (execution, name, attempt, written_at, is_final, document)
VALUES ((SELECT key FROM execution WHERE id = ?1), ?2, ?3, ?4, ?5, ?6);

-- name: read_records
-- Records of all kinds, in order; not what has expired.
SELECT kind, project, key, document, version, expires_at FROM record
WHERE (kind, project, key) > (?1, ?2, ?3) AND (expires_at IS NULL OR expires_at > ?4)
ORDER BY kind, project, key LIMIT ?5;

-- name: restore_records
-- Records with their own versions, whatever is there.
INSERT INTO record (kind, project, key, document, version, expires_at)
VALUES (?1, ?2, ?3, ?4, ?5, ?6)
ON CONFLICT (kind, project, key) DO UPDATE SET
    document = excluded.document, version = excluded.version, expires_at = excluded.expires_at;
