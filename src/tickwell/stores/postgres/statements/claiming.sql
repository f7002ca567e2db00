-- Claims. A lane is what is queued for one ability in one queue: a worker looks only into lanes
-- that it can serve, so what it cannot run never stands in its way.

-- part: hand_over
-- What was picked goes from the queue to running. The last is the one that brings the payloads to
-- the bytes asked for.
head AS MATERIALIZED (
    -- Looked up once for each job. A row finds its own by the place of its job.
    SELECT array_agg(job) AS jobs, array_agg(hard) AS hards, array_agg(version) AS versions
    FROM (SELECT job, hard, version FROM tickwell.cursor
          WHERE job = ANY (ARRAY(SELECT DISTINCT picked.job FROM picked)) ORDER BY job) AS one
),
beyond AS MATERIALIZED (
    SELECT array_agg(id) AS ids FROM (
        -- Counted one by one only where there is too much.
        SELECT id FROM (
            SELECT id, sum(octet_length(payload)) OVER (
                ORDER BY rank, id ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
            ) AS bytes_before
            FROM picked
        ) AS summed
        WHERE (SELECT sum(octet_length(payload)) FROM picked) >= $4 AND bytes_before >= $4
        UNION ALL
        -- A job that somebody took away would have the place of another.
        SELECT id FROM picked
        WHERE (SELECT jobs FROM head)[width_bucket(job, (SELECT jobs FROM head))]
              IS DISTINCT FROM job
    ) AS left_out
),
taken AS NOT MATERIALIZED (
    SELECT * FROM picked WHERE (id = ANY ((SELECT ids FROM beyond)::uuid[])) IS NOT TRUE
),
gone AS (
    -- An array keeps the planner on the key, however little it knows of the table.
    DELETE FROM tickwell.queue WHERE id = ANY (ARRAY(SELECT taken.id FROM taken))
),
started AS (
    INSERT INTO tickwell.running (id, job, attempt, charged, lost, returned, run_at, rank,
                                  expires_at, worker, claim_id, deadline, holds_job, ahead, gate)
    SELECT id, job, attempt + 1, charged + 1, lost, returned, run_at, rank, expires_at, $1, $2,
           greatest($3, run_at) + 60000
           + (SELECT hards FROM head)[width_bucket(job, (SELECT jobs FROM head))],
           holds_job, run_at > $3, CASE WHEN holds_key THEN gate END
    FROM taken
)
-- The jobs come first, in one row; each other row has the place of its own among them.
SELECT NULL AS id, NULL AS job, NULL AS kind, NULL AS attempt, NULL AS charged, NULL AS lost,
       NULL AS returned, NULL AS fire_time, NULL AS run_at, NULL AS payload, NULL AS lane,
       jobs::text[] AS jobs, versions::text[] AS versions, hards::text[] AS hards
FROM head
UNION ALL (
    SELECT id::text, width_bucket(job, (SELECT jobs FROM head)), kind, attempt, charged, lost,
           returned, fire_time, run_at, payload, lane, NULL, NULL, NULL
    FROM taken ORDER BY rank, taken.id
);

-- name: claim_lanes
-- Hand over the best of some lanes, of each as many as are asked of it: from the queue to running,
-- in one statement. Rows that somebody else is taking are passed over, never waited for; others of
-- the lane take their place.
WITH picked AS MATERIALIZED (
    -- After the lock: what another claimer has locked is passed over without its payload. Not by a
    -- join: planned while the table is small, it would read the whole of it for ever after.
    SELECT best.*, lane.place AS lane, CASE WHEN best.own_payload THEN (
        SELECT payload FROM tickwell.execution WHERE execution.id = best.id) END AS payload
    FROM unnest($7::text[], $8::text[], $9::text::integer[]) WITH ORDINALITY
         AS lane (queue, ability, many, place)
    CROSS JOIN LATERAL (
        SELECT queue.id, queue.job, queue.kind, queue.attempt, queue.charged, queue.lost,
               queue.returned, queue.fire_time, queue.run_at, queue.rank, queue.expires_at,
               queue.holds_job, queue.holds_key, queue.gate, queue.own_payload
        FROM tickwell.queue
        WHERE queue.state = 2 AND queue.queue = lane.queue AND queue.ability = lane.ability
          AND queue.run_at <= $5 AND queue.job <> ALL ((SELECT $6::text::uuid[])::uuid[])
          AND (queue.expires_at IS NULL OR queue.expires_at > $3)
          AND EXISTS (SELECT 1 FROM tickwell.worker WHERE worker.id = $1 AND NOT worker.lost)
        ORDER BY queue.rank, queue.id LIMIT lane.many FOR UPDATE SKIP LOCKED
    ) AS best
),
-- take: hand_over

-- name: claim_ids
-- The same of given executions, whatever lane they are in.
WITH picked AS MATERIALIZED (
    SELECT queue.id, queue.job, queue.kind, queue.attempt, queue.charged, queue.lost,
           queue.returned, queue.fire_time, queue.run_at, queue.rank, queue.expires_at,
           queue.holds_job, queue.holds_key, queue.gate, execution.payload, 1 AS lane
    FROM tickwell.queue
    LEFT JOIN tickwell.execution ON queue.own_payload AND execution.id = queue.id
    WHERE queue.id = ANY ($10::text::uuid[])
      -- "IS TRUE" keeps the planner on the key, off the indexes of what is queued.
      AND (queue.state = 2 AND queue.queue = ANY ($7::text[])
           AND (queue.ability = ANY ($8::text[])
                OR regexp_replace(queue.ability, '^call:([^/]*/)?', 'call:*/') = ANY ($8::text[]))
          ) IS TRUE
      AND queue.run_at <= $5 AND queue.job <> ALL ((SELECT $6::text::uuid[])::uuid[])
      AND (queue.expires_at IS NULL OR queue.expires_at > $3)
      AND EXISTS (SELECT 1 FROM tickwell.worker WHERE worker.id = $1 AND NOT worker.lost)
    ORDER BY queue.rank, queue.id LIMIT $9 FOR UPDATE OF queue SKIP LOCKED
),
-- take: hand_over

-- part: lanes
-- The lanes of these queues that hold something: one seek each, however much they hold.
WITH RECURSIVE lane (queue, ability) AS (
    SELECT wanted.queue, (SELECT queue.ability FROM tickwell.queue
                          WHERE queue.state = 2 AND queue.queue = wanted.queue
                          ORDER BY queue.ability LIMIT 1)
    FROM unnest($1::text[]) AS wanted (queue)
    UNION ALL
    SELECT lane.queue, (SELECT queue.ability FROM tickwell.queue
                        WHERE queue.state = 2 AND queue.queue = lane.queue
                          AND queue.ability > lane.ability
                        ORDER BY queue.ability LIMIT 1)
    FROM lane WHERE lane.ability IS NOT NULL
)

-- name: best_of_lanes
-- What is claimable, best rank first, for those who only look.
-- take: lanes
SELECT one.id::text, lane.queue, one.rank FROM lane CROSS JOIN LATERAL (
    SELECT queue.id, queue.rank FROM tickwell.queue
    WHERE queue.state = 2 AND queue.queue = lane.queue AND queue.ability = lane.ability
      AND queue.run_at <= $3
    ORDER BY queue.rank, queue.id LIMIT $4
) AS one
WHERE lane.ability = ANY ($2::text[])
   OR regexp_replace(lane.ability, '^call:([^/]*/)?', 'call:*/') = ANY ($2::text[])
ORDER BY one.rank, one.id LIMIT $4;

-- name: claimable
-- How many each lane has of the best of these queues and abilities. Lanes that are spent are left
-- out.
-- take: lanes
, best (queue, ability) AS (
    SELECT lane.queue, lane.ability FROM lane CROSS JOIN LATERAL (
        SELECT queue.id, queue.rank FROM tickwell.queue
        WHERE queue.state = 2 AND queue.queue = lane.queue AND queue.ability = lane.ability
          AND queue.run_at <= $3 AND (queue.expires_at IS NULL OR queue.expires_at > $4)
          AND queue.job <> ALL ((SELECT $6::text::uuid[])::uuid[])
        ORDER BY queue.rank, queue.id LIMIT $5
    ) AS one
    -- The second: a shared handler will do for all projects.
    WHERE (lane.ability = ANY ($2::text[])
           OR regexp_replace(lane.ability, '^call:([^/]*/)?', 'call:*/') = ANY ($2::text[]))
      AND (lane.queue, lane.ability) NOT IN (SELECT * FROM unnest($7::text[], $8::text[]))
    ORDER BY one.rank, one.id LIMIT $5
)
SELECT queue, ability, count(*)::int FROM best GROUP BY queue, ability;

-- name: take_back
-- What a claim took just now goes back to where it was: nobody knows of these attempts yet.
WITH back AS (
    DELETE FROM tickwell.running
    WHERE id = ANY ($3::uuid[]) AND worker = $1 AND claim_id = $2 AND NOT cancel AND NOT called_off
    RETURNING *
)
INSERT INTO tickwell.queue (id, job, state, queue, ability, kind, fire_time, run_at, rank, look_at,
                            expires_at, overlap, gate, gate_limit, holds_job, holds_key, attempt,
                            charged, lost, returned, own_payload)
SELECT back.id, back.job, 2, execution.queue, execution.ability, execution.kind,
       execution.fire_time, back.run_at, back.rank, back.run_at, back.expires_at,
       execution.overlap, execution.gate, execution.gate_limit, back.holds_job,
       back.gate IS NOT NULL, back.attempt - 1, back.charged - 1, back.lost, back.returned,
       execution.payload IS NOT NULL
FROM back JOIN tickwell.execution ON execution.id = back.id;

-- name: held_claims
-- What a worker holds by a claim whose reply was lost, by id; a worker that is lost holds nothing.
WITH held AS MATERIALIZED (
    SELECT * FROM tickwell.running WHERE running.worker = $1 AND running.claim_id = $2
)
SELECT held.id::text, held.job::text, execution.kind, held.attempt, held.charged, held.lost,
       held.returned, execution.fire_time, held.run_at, execution.payload, held.deadline,
       held.worker, held.claim_id, held.started_at,
       cursor.version
FROM held
JOIN tickwell.execution ON execution.id = ANY (ARRAY[held.id])
JOIN tickwell.cursor ON cursor.job = ANY (ARRAY[held.job])
JOIN tickwell.worker ON worker.id = held.worker AND NOT worker.lost
ORDER BY held.id;
