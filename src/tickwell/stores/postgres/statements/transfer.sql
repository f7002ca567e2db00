-- Everything as it is, read and written for a copy.

-- name: read_executions
-- Executions with what the queue knows of them, by id.
SELECT execution.id::text, execution.project, execution.job::text, execution.job_version, execution.kind,
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
       coalesce(queue.holds_job, running.holds_job, false), running.claim_id, running.called_off,
       coalesce(queue.waits, 0)
FROM tickwell.execution
LEFT JOIN tickwell.queue ON execution.state IS NULL AND queue.id = execution.id
LEFT JOIN tickwell.running ON execution.state IS NULL AND running.id = execution.id
LEFT JOIN tickwell.unique_run AS same ON same.execution = execution.id
WHERE execution.id > $1 ORDER BY execution.id LIMIT $2;

-- name: read_attempts
-- Attempts of executions after one and up to another that another attempt followed.
SELECT execution::text, number, outcome, worker, started_at, ended_at, error, result
FROM tickwell.attempt WHERE execution > $1 AND execution <= $2
ORDER BY execution, number;

-- name: read_steps
-- The steps of the same.
SELECT execution::text, attempt, name, written_at, is_final, document
FROM tickwell.step WHERE execution > $1 AND execution <= $2;

-- name: restore_executions
-- Executions that are new here.
INSERT INTO tickwell.execution (
    id, project, job, job_version, kind, fire_time, run_at, queue, ability, created_at, overlap,
    gate, gate_limit, payload, request_key, revived_from, state, attempt, charged, lost,
    returned, outcome, reason, worker, started_at, ended_at, error, result, rare
)
SELECT new.*, CASE WHEN state > 5 THEN state END FROM unnest(
    $1::text::uuid[], $2::text::text[], $3::text::uuid[], $4::text::integer[],
    $5::text::smallint[], $6::text::bigint[], $7::text::bigint[], $8::text::text[],
    $9::text::text[], $10::text::bigint[], $11::text::smallint[], $12::text::text[],
    $13::text::integer[], $14::text::text[], $15::text::text[], $16::text::text[],
    $17::text::smallint[], $18::text::integer[], $19::text::integer[], $20::text::integer[],
    $21::text::integer[], $22::text::smallint[], $23::text::text[], $24::text::text[],
    $25::text::bigint[], $26::text::bigint[], $27::text::text[], $28::text::text[]
) AS new (
    id, project, job, job_version, kind, fire_time, run_at, queue, ability, created_at, overlap,
    gate, gate_limit, payload, request_key, revived_from, state, attempt, charged, lost,
    returned, outcome, reason, worker, started_at, ended_at, error, result
);

-- name: restore_pending
-- What the queue knows of those that are pending.
INSERT INTO tickwell.queue (
    id, job, state, queue, ability, kind, fire_time, run_at, rank, look_at, expires_at, overlap,
    gate, gate_limit, waits, holds_job, attempt, charged, lost, returned, own_payload
)
SELECT one.id, job, new.state, queue, ability, kind, fire_time, run_at, new.rank, run_at,
       new.expires_at, overlap, gate, gate_limit, new.waits, new.holds_job, attempt, charged, lost,
       returned, payload IS NOT NULL
FROM unnest(
    $1::text::uuid[], $2::text::smallint[], $3::text::smallint[], $4::text::bigint[],
    $5::text::bigint[], $6::text::boolean[]
) AS new (
    id, state, waits, rank, expires_at, holds_job
) JOIN tickwell.execution AS one ON one.id = new.id;

-- name: restore_running
-- Whose those are that run.
INSERT INTO tickwell.running (
    id, job, attempt, charged, lost, returned, run_at, rank, expires_at, worker, claim_id, deadline,
    holds_job, cancel, called_off, started_at
)
SELECT one.id, job, attempt, charged, lost, returned, run_at, new.rank, new.expires_at, new.worker,
       new.claim_id, new.deadline, new.holds_job, new.cancel, new.called_off, new.started_at
FROM unnest(
    $1::text::uuid[], $2::text::bigint[], $3::text::bigint[], $4::text::text[],
    $5::text::text[], $6::text::bigint[], $7::text::boolean[], $8::text::boolean[],
    $9::text::boolean[], $10::text::bigint[]
) AS new (
    id, rank, expires_at, worker, claim_id, deadline, holds_job, cancel, called_off, started_at
) JOIN tickwell.execution AS one ON one.id = new.id;

-- name: restore_steps
-- What they have done.
INSERT INTO tickwell.step (execution, name, attempt, written_at, is_final, document)
SELECT * FROM unnest($1::uuid[], $2::text[], $3::integer[], $4::bigint[], $5::boolean[],
                     $6::text[]);

-- name: read_records
-- Records of all kinds, in order; not what has expired.
SELECT kind, project, key, document, version, expires_at FROM tickwell.record
WHERE (kind, project, key) > ($1, $2, $3) AND (expires_at IS NULL OR expires_at > $4)
ORDER BY kind, project, key LIMIT $5;

-- name: restore_records
-- Records with their own versions, whatever is there.
INSERT INTO tickwell.record (kind, project, key, document, version, expires_at)
SELECT * FROM unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::bigint[], $6::bigint[])
ON CONFLICT (kind, project, key) DO UPDATE SET
    document = excluded.document, version = excluded.version, expires_at = excluded.expires_at;
