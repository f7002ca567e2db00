-- Recording executions: new ones in batches, and slots that are armed again.

-- part: new
-- Executions, column by column.
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

-- name: insert_new
-- Record executions and put them into the queue; those with an end are over already. An id that
-- exists is left alone, it is the guard: whoever gets fewer back than were given takes all back.
-- take: new
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
-- What is on record under these ids.
SELECT execution.id::text, execution.state, execution.reason FROM unnest($1::uuid[]) AS wanted (id)
JOIN tickwell.execution ON execution.id = wanted.id;

-- name: slot
-- What is on record under an id.
SELECT state, reason, attempt FROM tickwell.execution WHERE id = $1;

-- name: keep_attempts
-- The last attempt gets a row of its own, since the execution goes on.
INSERT INTO tickwell.attempt (execution, number, outcome, worker, started_at, ended_at, error, result)
SELECT id, attempt, outcome, worker, started_at, ended_at, error, result FROM tickwell.execution
WHERE id = ANY ($1::uuid[]) AND outcome IS NOT NULL;

-- name: arm_again
-- Slots that were skipped go on under their ids; the attempt number never falls.
-- take: new
armed AS (
    UPDATE tickwell.execution SET
        job_version = new.job_version, kind = new.kind, fire_time = new.fire_time,
        run_at = new.run_at, queue = new.queue, ability = new.ability, overlap = new.overlap,
        gate = new.gate, gate_limit = new.gate_limit, payload = new.payload,
        request_key = new.request_key, revived_from = new.revived_from, state = NULL, rare = NULL,
        charged = 0, lost = 0, returned = 0, outcome = NULL, reason = NULL, worker = NULL,
        started_at = NULL, ended_at = NULL, error = NULL, result = NULL
    FROM new WHERE execution.id = new.id
    -- All that is needed: to find it again among what is new, everything would be compared with
    -- everything.
    RETURNING execution.id, execution.job, new.state, new.queue, new.ability, new.kind,
              new.fire_time, new.run_at, new.rank, new.look_at, new.expires_at, new.overlap,
              new.gate, new.gate_limit, new.waits, new.holds_job, new.holds_key,
              execution.attempt, new.payload IS NOT NULL
)
INSERT INTO tickwell.queue (
    id, job, state, queue, ability, kind, fire_time, run_at, rank, look_at, expires_at, overlap,
    gate, gate_limit, waits, holds_job, holds_key, attempt, own_payload
)
SELECT * FROM armed;

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

-- name: count_runs
-- Fires that nobody has counted yet.
UPDATE tickwell.cursor SET runs = runs + $1 WHERE job = $2;

-- name: insert_skips
-- Fire times that were passed over together.
INSERT INTO tickwell.skip (job, first, last, count, reason, prune_at)
SELECT * FROM unnest($1::uuid[], $2::bigint[], $3::bigint[], $4::bigint[], $5::smallint[],
                     $6::bigint[]);
