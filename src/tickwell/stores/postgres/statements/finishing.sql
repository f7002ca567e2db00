-- The ends of attempts.

-- name: finish
-- End executions with their last attempts, in one statement. The caller holds their jobs, and has
-- locked the rows of `running`.
-- The reports are joined once only, and handed on with the rows that they end: a plan made without
-- knowing how many there are joins them row by row, 250,000 pairs for 500. What is compared with
-- an array, here and elsewhere, is looked up by its key: one made while nothing ran would walk over
-- all that runs for each report.
WITH gone AS (
    DELETE FROM tickwell.running USING unnest(
        $1::uuid[], $2::integer[], $3::integer[], $4::smallint[], $5::smallint[], $6::text[],
        $7::integer[], $8::integer[], $9::integer[], $10::bigint[], $11::bigint[], $12::text[],
        $13::text[]
    ) AS report (id, attempt, version, state, outcome, reason, charged, lost, returned, started_at,
                 ended_at, error, result)
    WHERE running.id = ANY (ARRAY[report.id]) AND running.attempt = report.attempt
    RETURNING running.worker, report.*
)
UPDATE tickwell.execution SET
    state = gone.state, rare = nullif(gone.state, 5), outcome = gone.outcome,
    reason = gone.reason, attempt = gone.attempt, charged = gone.charged, lost = gone.lost,
    returned = gone.returned, worker = gone.worker, started_at = gone.started_at,
    ended_at = gone.ended_at, error = gone.error, result = gone.result
FROM gone WHERE execution.id = gone.id;

-- name: finish_quickly
-- End executions that ended alike, in one statement, fenced by the rows of `running`, and count
-- them: only those that hold no permit, were not called off, and whose definition is the one that
-- the report was made by. Answers how many stood and, if not all, their places among the ids, which
-- are sorted.
-- Arrays come as text, which the driver sends in one piece. A row finds what is its own in them by
-- the place of its id: no plan can join them pair by pair, as one for 500 and 500 rows did.
WITH given AS MATERIALIZED (
    SELECT $1::text::uuid[] AS ids, $2::text::integer[] AS attempts
),
gone AS (
    DELETE FROM tickwell.running
    WHERE id = ANY (ARRAY(SELECT unnest(ids) FROM given))
      AND attempt = (SELECT attempts FROM given)[width_bucket(id, (SELECT ids FROM given))]
      AND gate IS NULL AND NOT holds_job AND NOT called_off
      -- "IS TRUE" keeps it a set that is looked into, instead of one more table to be joined.
      AND (job IN (SELECT cursor.job
                   FROM unnest($3::text::uuid[], $4::text::integer[]) AS known (job, version)
                   JOIN tickwell.cursor ON cursor.job = known.job
                                       AND cursor.version = known.version)) IS TRUE
    RETURNING id, attempt, worker, width_bucket(id, (SELECT ids FROM given)) AS place
),
ended AS (
    UPDATE tickwell.execution SET
        state = $9, rare = nullif($9, 5::smallint), outcome = $10, reason = $11,
        attempt = gone.attempt, charged = $12, lost = $13, returned = $14, worker = gone.worker,
        started_at = (SELECT $5::text::bigint[])[gone.place],
        ended_at = (SELECT $6::text::bigint[])[gone.place],
        error = ($7::text[])[gone.place], result = ($8::text[])[gone.place]
    FROM gone WHERE execution.id = gone.id
    RETURNING gone.place, execution.project
),
counted AS (
    INSERT INTO tickwell.tally (project, state, writer, count)
    SELECT project, $9, pg_backend_pid() % 64, count(*) FROM ended GROUP BY project ORDER BY project
    ON CONFLICT (project, state, writer) DO UPDATE SET count = tally.count + excluded.count
)
SELECT count(*), CASE WHEN count(*) < (SELECT cardinality(ids) FROM given)
                      THEN array_agg(place)::text[] END
FROM ended;

-- name: running_rows
-- The running executions among these, with what their end depends on.
SELECT running.id::text, running.job::text, running.attempt, running.worker, running.holds_job,
       running.gate, running.cancel, running.called_off, running.run_at, running.rank,
       execution.kind, execution.job_version, execution.fire_time, execution.overlap,
       execution.queue, execution.ability, execution.gate, execution.gate_limit,
       execution.payload IS NOT NULL, running.expires_at, execution.reason
FROM unnest($1::uuid[]) AS wanted (id)
JOIN tickwell.running ON running.id = ANY (ARRAY[wanted.id])
JOIN tickwell.execution ON execution.id = wanted.id
ORDER BY wanted.id FOR UPDATE OF running;

-- name: stop
-- They are running no more.
DELETE FROM tickwell.running WHERE id = ANY ($1::uuid[]);

-- name: pass_job_on
-- Give the gates of these jobs to the best of those before them, or to nobody.
UPDATE tickwell.cursor SET holder = (
    SELECT queue.id FROM tickwell.queue WHERE queue.job = cursor.job AND queue.waits = 1
    ORDER BY queue.rank, queue.id LIMIT 1
)
WHERE job = ANY ($1::uuid[]) RETURNING job::text, holder::text;

-- name: queue_holders
-- Those that were given their job's gate and pass no other are queued.
UPDATE tickwell.queue SET state = 2, waits = 0, holds_job = true
WHERE id = ANY ($1::uuid[]) AND gate IS NULL;

-- name: keyed_holders
-- Those that were given their job's gate and stand before another one now.
SELECT job::text, rank, id::text, gate, gate_limit FROM tickwell.queue
WHERE id = ANY ($1::uuid[]) AND gate IS NOT NULL;

-- name: best_before_gates
-- The best of those before each of these concurrency gates, so many of each.
SELECT best.rank, best.id::text, wanted.gate, best.gate_limit
FROM unnest($1::text[], $2::integer[]) AS wanted (gate, most) CROSS JOIN LATERAL (
    SELECT queue.rank, queue.id, queue.gate_limit FROM tickwell.queue
    WHERE queue.waits = 2 AND queue.gate = wanted.gate
    ORDER BY queue.rank, queue.id LIMIT wanted.most
) AS best
ORDER BY best.rank, best.id;

-- name: move_keyed
-- Where executions before concurrency gates stand now; those with their jobs' gates keep them.
-- A row finds what is its own by the place of its id.
UPDATE tickwell.queue SET
    state = ($1::smallint[])[array_position($5::uuid[], id)],
    waits = ($2::smallint[])[array_position($5::uuid[], id)],
    holds_key = ($3::boolean[])[array_position($5::uuid[], id)],
    holds_job = holds_job OR ($4::boolean[])[array_position($5::uuid[], id)]
WHERE id = ANY ($5::uuid[]);

-- name: gates_behind
-- The concurrency gates that the best of those before the gates of these jobs passes next.
SELECT best.gate FROM unnest($1::uuid[]) AS wanted (job) CROSS JOIN LATERAL (
    SELECT queue.gate FROM tickwell.queue WHERE queue.job = wanted.job AND queue.waits = 1
    ORDER BY queue.rank, queue.id LIMIT 1
) AS best
WHERE best.gate IS NOT NULL;

-- name: drop_put_off
-- Attempts that were put off before ones that are put off as well: 4 is released.
DELETE FROM tickwell.attempt USING unnest($1::uuid[], $2::integer[]) AS gone (execution, number)
WHERE attempt.execution = ANY (ARRAY[gone.execution]) AND attempt.number = gone.number
  AND attempt.outcome = 4 AND attempt.started_at IS NULL;

-- name: insert_attempts
-- Attempts that another one follows.
INSERT INTO tickwell.attempt (execution, number, outcome, worker, started_at, ended_at, error,
                              result)
SELECT * FROM unnest($1::uuid[], $2::integer[], $3::smallint[], $4::text[], $5::bigint[],
                     $6::bigint[], $7::text[], $8::text[]);

-- name: go_on
-- Executions that are tried again.
UPDATE tickwell.execution SET
    attempt = again.attempt, charged = again.charged, lost = again.lost,
    returned = again.returned, started_at = again.started_at, error = again.error,
    result = again.result, run_at = again.run_at
FROM unnest($1::integer[], $2::integer[], $3::integer[], $4::integer[], $5::bigint[], $6::text[],
            $7::text[], $8::bigint[], $9::uuid[])
     AS again (attempt, charged, lost, returned, started_at, error, result, run_at, id)
WHERE execution.id = again.id;

-- name: insert_again
-- Put executions back into the queue.
INSERT INTO tickwell.queue (id, job, state, queue, ability, kind, fire_time, run_at, rank, look_at,
                            expires_at, overlap, gate, gate_limit, holds_job, attempt, charged,
                            lost, returned, own_payload)
SELECT * FROM unnest(
    $1::uuid[], $2::uuid[], $3::smallint[], $4::text[], $5::text[], $6::smallint[], $7::bigint[],
    $8::bigint[], $9::bigint[], $10::bigint[], $11::bigint[], $12::smallint[], $13::text[],
    $14::integer[], $15::boolean[], $16::integer[], $17::integer[], $18::integer[], $19::integer[],
    $20::boolean[]);

-- name: set_failures
-- Dead executions in a row.
UPDATE tickwell.cursor SET failures = counted.failures
FROM unnest($1::integer[], $2::uuid[]) AS counted (failures, job) WHERE cursor.job = counted.job;

-- name: was_applied
-- Which of these attempts are on record with this end.
SELECT report.place FROM unnest($1::integer[], $2::uuid[], $3::integer[], $4::bigint[],
                                $5::smallint[])
     AS report (place, id, attempt, ended_at, outcome)
JOIN tickwell.execution ON execution.id = report.id
LEFT JOIN tickwell.attempt
    ON attempt.execution = ANY (ARRAY[report.id]) AND attempt.number = report.attempt
WHERE (attempt.ended_at = report.ended_at AND attempt.outcome = report.outcome)
   OR (execution.outcome = report.outcome AND execution.attempt = report.attempt
       AND execution.ended_at = report.ended_at);

-- name: failures_of
-- Dead executions in a row of jobs.
SELECT job::text, failures FROM tickwell.cursor WHERE job = ANY ($1::uuid[]);
