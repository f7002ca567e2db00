-- Recording executions: new ones in batches, and slots that are armed again.

-- name: insert_new
-- Record executions and put them into the queue; those with an end are over already. An id that
-- exists is left alone, it is the guard: whoever gets fewer back than were given takes all back.
WITH new AS (
    SELECT * FROM unnest(
        $1::text::uuid[], $2::text::text[], $3::text::uuid[], $4::text::integer[],
        $5::text::smallint[], $6::text::bigint[], $7::text::bigint[], $8::text::text[],
        $9::text::text[], $10::text::bigint[], $11::text::smallint[], $12::text::text[],
        $13::text::integer[], $14::text::text[], $15::text::text[], $16::text::text[],
        $17::text::smallint[], $18::text::smallint[], $19::text::bigint[], $20::text::boolean[],
        $21::text::bigint[], $22::text::bigint[], $23::text::boolean[]
    ) AS new (id, project, job, job_version, kind, fire_time, run_at, queue, ability, created_at,
              overlap, gate, gate_limit, payload, request_key, revived_from,
              state, waits, look_at, holds_job, rank, expires_at, holds_key)
),
recorded AS (
    INSERT INTO tickwell.execution (
        id, project, job, job_version, kind, fire_time, run_at, queue, ability, created_at, overlap,
        gate, gate_limit, payload, request_key, revived_from, state, rare, reason, ended_at
    )
    SELECT id, project, job, job_version, kind, fire_time, run_at, queue, ability, created_at,
           overlap, gate, gate_limit, payload, request_key, revived_from,
           CASE WHEN state = 8 THEN state END, CASE WHEN state = 8 THEN state END,
           CASE WHEN state = 8 THEN 'overlap' END, CASE WHEN state = 8 THEN created_at END
    FROM new ON CONFLICT (id) DO NOTHING RETURNING id
),
pending AS (
    INSERT INTO tickwell.queue (
        id, job, state, queue, ability, kind, fire_time, run_at, rank, look_at, expires_at, overlap,
        gate, gate_limit, waits, holds_job, holds_key, own_payload
    )
    SELECT id, job, state, queue, ability, kind, fire_time, run_at, rank, look_at, expires_at,
           overlap, gate, gate_limit, waits, holds_job, holds_key, payload IS NOT NULL
    FROM new WHERE state <> 8 ON CONFLICT (id) DO NOTHING
)
SELECT count(*) FROM recorded;

-- name: existing
-- Which of these ids are taken.
SELECT execution.id::text FROM unnest($1::uuid[]) AS wanted (id)
JOIN tickwell.execution ON execution.id = wanted.id;

-- name: slot
-- What is on record under an id.
SELECT state, reason, attempt FROM tickwell.execution WHERE id = $1;

-- name: keep_attempt
-- The last attempt gets a row of its own, since the execution goes on.
INSERT INTO tickwell.attempt (execution, number, outcome, worker, started_at, ended_at, error)
SELECT id, attempt, outcome, worker, started_at, ended_at, error FROM tickwell.execution
WHERE id = $1 AND outcome IS NOT NULL;

-- name: arm_again
-- A slot that was skipped goes on under its id; the attempt number never falls.
UPDATE tickwell.execution SET
    job_version = $2, kind = $3, fire_time = $4, run_at = $5, queue = $6, ability = $7,
    overlap = $8, gate = $9, gate_limit = $10, payload = $11, request_key = $12,
    revived_from = $13, state = NULL, rare = NULL, charged = 0, lost = 0, returned = 0,
    outcome = NULL, reason = NULL, worker = NULL, started_at = NULL, ended_at = NULL, error = NULL,
    result = NULL
WHERE id = $1;

-- name: queue_armed
-- It waits.
INSERT INTO tickwell.queue (id, job, state, queue, ability, kind, fire_time, run_at, rank, look_at,
                            expires_at, overlap, gate, gate_limit, attempt, own_payload)
SELECT id, job, 0, queue, ability, kind, fire_time, run_at, $2, run_at, $3, overlap, gate,
       gate_limit, attempt, payload IS NOT NULL
FROM tickwell.execution WHERE id = $1;

-- name: count_made
-- Executions on record of jobs, and who holds their gates.
UPDATE tickwell.cursor SET
    made = cursor.made + more.made, holder = more.holder,
    prune_at = CASE WHEN cursor.keep >= cursor.made AND cursor.keep < cursor.made + more.made THEN 0
                    ELSE least(cursor.prune_at, more.prune_at) END
FROM unnest($1::integer[], $2::uuid[], $3::bigint[], $4::uuid[])
     AS more (made, holder, prune_at, job)
WHERE cursor.job = more.job;

-- name: count_one_made
-- One more execution on record.
UPDATE tickwell.cursor SET
    made = made + 1,
    prune_at = CASE WHEN made = keep THEN 0 ELSE least(prune_at, $2) END
WHERE job = $1;

-- name: count_run
-- A fire that nobody has counted yet.
UPDATE tickwell.cursor SET runs = runs + 1 WHERE job = $1;

-- name: insert_skips
-- Fire times that were passed over together.
INSERT INTO tickwell.skip (job, first, last, count, reason, prune_at)
SELECT * FROM unnest($1::uuid[], $2::bigint[], $3::bigint[], $4::bigint[], $5::smallint[],
                     $6::bigint[]);
