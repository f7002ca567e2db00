-- Runs requested in the caller's own transaction, which nobody else may have to wait for.

-- name: whereabouts
-- The database that answers, and whether our tables are in it.
SELECT current_database()::text, to_regclass('tickwell.meta') IS NOT NULL;

-- name: identity
-- What tells this set of tables from any other, and the server's time.
SELECT (SELECT value FROM tickwell.meta WHERE name = 'identity'),
       floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint;

-- name: make_identity
-- Given once.
INSERT INTO tickwell.meta (name, value) VALUES ('identity', $1::text)
ON CONFLICT (name) DO NOTHING;

-- name: requested_job
-- A job by its id or else its name. Until the caller's transaction ends nobody edits or deletes it, so that
-- a change meets the new execution; fires and ends of executions do not touch this row.
SELECT id::text, version, document FROM tickwell.job
WHERE id = coalesce(
    (SELECT id FROM tickwell.job WHERE id = $3::uuid AND (project = $1::text) IS TRUE),
    (SELECT id FROM tickwell.job WHERE NOT deleted AND project = $1::text AND name = $2::text)
-- "IS TRUE" keeps the planner on the key: on a new table it would go by the project.
) AND (project = $1::text AND NOT deleted) IS TRUE
FOR SHARE;

-- name: add_waiting
-- Record an execution that waits: promotion takes it through its gates. An id or a key that is
-- taken is waited for while its writer's transaction is open, and then left alone. The job's
-- executions are counted later, since its cursor would stay locked until the caller commits.
-- A notification is sent by the commit.
WITH recorded AS (
    INSERT INTO tickwell.execution (
        id, project, job, job_version, kind, fire_time, run_at, queue, ability, created_at, overlap,
        gate, gate_limit, payload, request_key, revived_from
    )
    VALUES ($1::uuid, $2::text, $3::uuid, $4::integer, $5::smallint, $6::bigint, $7::bigint,
            $8::text, $9::text, $10::bigint, $11::smallint, $12::text, $13::integer, $14::text,
            $15::text, $16::text)
    ON CONFLICT DO NOTHING
    RETURNING id, project, job, kind, fire_time, run_at, queue, ability, overlap, gate, gate_limit,
              payload
),
pending AS (
    INSERT INTO tickwell.queue (
        id, job, state, queue, ability, kind, fire_time, run_at, rank, look_at, expires_at, overlap,
        gate, gate_limit, own_payload
    )
    SELECT id, job, 0, queue, ability, kind, fire_time, run_at, $17::bigint, run_at, $18::bigint,
           overlap, gate, gate_limit, payload IS NOT NULL
    FROM recorded
),
noted AS (
    INSERT INTO tickwell.record (kind, project, key, document, version)
    SELECT 'uncounted_request', project, id::text, $19::text, 1 FROM recorded
)
SELECT id::text, pg_notify($20::text, '')::text FROM recorded;

-- name: take_uncounted
-- Executions that their jobs do not count yet.
DELETE FROM tickwell.record WHERE ctid = ANY (ARRAY(
    SELECT ctid FROM tickwell.record WHERE kind = 'uncounted_request'
    LIMIT $1 FOR UPDATE SKIP LOCKED
)) RETURNING document;
