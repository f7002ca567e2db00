-- Everything as it is, read and written for a copy.

-- name: read_executions
-- Executions with what the queue knows of them, by id.
SELECT execution.id, execution.project, execution.job, execution.job_version, execution.kind,
       COALESCE(execution.state, queue.state, 3), execution.fire_time, execution.run_at,
       execution.queue, execution.ability, execution.created_at, execution.payload,
       execution.request_key, COALESCE(running.attempt, execution.attempt),
       COALESCE(running.charged, execution.charged), COALESCE(running.lost, execution.lost),
       COALESCE(running.returned, execution.returned), execution.reason,
       COALESCE(running.worker, execution.worker), running.deadline, running.cancel,
       CASE WHEN running.attempt IS NULL THEN execution.started_at ELSE running.started_at END,
       execution.ended_at, execution.error, execution.result,
       execution.revived_from, execution.outcome,
       COALESCE(queue.overlap, execution.overlap), execution.gate,
       COALESCE(queue.gate_limit, execution.gate_limit), same.name,
       COALESCE(queue.`rank`, running.`rank`, 0), COALESCE(queue.expires_at, running.expires_at),
       COALESCE(queue.holds_job, running.holds_job, FALSE), running.claim_id, running.called_off,
       COALESCE(queue.waits, 0)
FROM tickwell_execution AS execution
LEFT JOIN tickwell_queue AS queue ON execution.state IS NULL AND queue.id = execution.id
LEFT JOIN tickwell_running AS running ON execution.state IS NULL AND running.id = execution.id
LEFT JOIN tickwell_unique_run AS same ON same.execution = execution.id
WHERE execution.id > $1 ORDER BY execution.id LIMIT $2;

-- name: read_attempts
-- Attempts of executions after one and up to another that another attempt followed.
SELECT execution, number, outcome, worker, started_at, ended_at, error, result
FROM tickwell_attempt WHERE execution > $1 AND execution <= $2 ORDER BY execution, number;

-- name: read_steps
-- The steps of the same.
SELECT execution, attempt, name, written_at, is_final, document
FROM tickwell_step WHERE execution > $1 AND execution <= $2;

-- name: restore_executions
-- Executions that are new here.
INSERT INTO tickwell_execution (
    id, project, job, job_version, kind, fire_time, run_at, queue, ability, created_at, overlap,
    gate, gate_limit, payload, request_key, revived_from, state, attempt, charged, lost,
    returned, outcome, reason, worker, started_at, ended_at, error, result, rare
)
SELECT new.*, CASE WHEN state > 5 THEN state END
FROM ROWS($1, id ID, project NAME, job ID, job_version INT, kind INT, fire_time INT, run_at INT, queue
          NAME, ability NAME, created_at INT, overlap INT, gate NAME, gate_limit INT,
          payload TEXT, request_key NAME, revived_from NAME, state INT, attempt INT,
          charged INT, lost INT, returned INT, outcome INT, reason TEXT, worker NAME,
          started_at INT, ended_at INT, error TEXT, result TEXT) AS new;

-- name: restore_pending
-- What the queue knows of those that are pending.
INSERT INTO tickwell_queue (
    id, job, state, queue, ability, kind, fire_time, run_at, `rank`, look_at, expires_at, overlap,
    gate, gate_limit, waits, holds_job, attempt, charged, lost, returned, own_payload
)
SELECT one.id, job, new.state, queue, ability, kind, fire_time, run_at, new.rank, run_at,
       new.expires_at, overlap, gate, gate_limit, new.waits, new.holds_job, attempt, charged, lost,
       returned, payload IS NOT NULL
FROM ROWS($1, id ID, state INT, waits INT, `rank` INT, expires_at INT, holds_job INT) AS new
STRAIGHT_JOIN tickwell_execution AS one FORCE INDEX (PRIMARY) ON one.id = new.id;

-- name: restore_running
-- Whose those are that run.
INSERT INTO tickwell_running (
    id, job, attempt, charged, lost, returned, run_at, `rank`, expires_at, worker, claim_id,
    deadline, holds_job, cancel, called_off, started_at
)
SELECT one.id, job, attempt, charged, lost, returned, run_at, new.rank, new.expires_at, new.worker,
       new.claim_id, new.deadline, new.holds_job, new.cancel, new.called_off, new.started_at
FROM ROWS($1, id ID, `rank` INT, expires_at INT, worker NAME, claim_id NAME, deadline INT, holds_job
          INT, cancel INT, called_off INT, started_at INT) AS new
STRAIGHT_JOIN tickwell_execution AS one FORCE INDEX (PRIMARY) ON one.id = new.id;

-- name: restore_steps
-- What they have done.
INSERT INTO tickwell_step (execution, name, attempt, written_at, is_final, document)
SELECT execution, name, attempt, written_at, is_final, document
FROM ROWS($1, execution ID, name NAME, attempt INT, written_at INT, is_final INT,
          document TEXT) AS new;

-- name: read_records
-- Records of all kinds, in order; not what has expired.
SELECT kind, project, name, document, version, expires_at FROM tickwell_record
WHERE (kind > $1 OR (kind = $1 AND (project > $2 OR (project = $2 AND name > $3))))
  AND (expires_at IS NULL OR expires_at > $4)
ORDER BY kind, project, name LIMIT $5;

-- name: restore_records
-- Records with their own versions, whatever is there.
INSERT INTO tickwell_record (kind, project, name, document, version, expires_at)
SELECT kind, project, name, document, version, expires_at
FROM ROWS($1, kind NAME, project NAME, name NAME, document TEXT, version INT,
          expires_at INT) AS new
ON DUPLICATE KEY UPDATE document = new.document, version = new.version,
    expires_at = new.expires_at;
