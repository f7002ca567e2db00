-- Claims. A lane is what is queued for one ability in one queue: a worker looks only into lanes
-- that it can serve, so what it cannot run never stands in its way.

-- name: claim_lanes
-- Hand over the best of some lanes, of each as many as are asked of it: from the queue to running,
-- in one statement. Rows that somebody else is taking are passed over, never waited for; others of
-- the lane take their place. The last is the one that brings the payloads to the bytes asked for.
WITH picked AS MATERIALIZED (
    SELECT best.*, lane.queue, lane.ability
    FROM unnest($4::text[], $5::text[], $6::int[]) AS lane (queue, ability, many)
    CROSS JOIN LATERAL (
        SELECT id, job, kind, attempt, charged, lost, returned, fire_time, run_at, rank, expires_at,
               own_payload, holds_job, holds_key, gate
        FROM tickwell.queue
        WHERE state = 2 AND queue.queue = lane.queue AND queue.ability = lane.ability
          AND run_at <= $7 AND job <> ALL ($8::uuid[])
          AND (expires_at IS NULL OR expires_at > $3)
          AND EXISTS (SELECT 1 FROM tickwell.worker WHERE worker.id = $1 AND NOT worker.lost)
        ORDER BY rank, id LIMIT lane.many FOR UPDATE SKIP LOCKED
    ) AS best
),
taken AS MATERIALIZED (
    SELECT * FROM (
        SELECT picked.*, execution.payload, sum(octet_length(execution.payload)) OVER (
            ORDER BY picked.rank, picked.id ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
        ) AS bytes_before
        FROM picked LEFT JOIN tickwell.execution ON picked.own_payload AND execution.id = picked.id
    ) AS summed WHERE coalesce(bytes_before, 0) < $9
),
gone AS (
    -- An array keeps the planner on the key, however little it knows of the table.
    DELETE FROM tickwell.queue WHERE id = ANY (ARRAY(SELECT taken.id FROM taken))
),
started AS (
    INSERT INTO tickwell.running (id, job, attempt, charged, lost, returned, run_at, rank,
                                  expires_at, worker, claim_id, deadline, holds_job, gate)
    SELECT taken.id, taken.job, taken.attempt + 1, taken.charged + 1, taken.lost,
           taken.returned, taken.run_at, taken.rank, taken.expires_at, $1, $2,
           greatest($3, taken.run_at) + cursor.hard + 60000, taken.holds_job,
           CASE WHEN taken.holds_key THEN taken.gate END
    FROM taken JOIN tickwell.cursor ON cursor.job = taken.job
)
SELECT taken.id::text, taken.job::text, taken.kind, taken.attempt, taken.charged, taken.lost,
       taken.returned, taken.fire_time, taken.run_at, cursor.version, cursor.hard,
       taken.payload, taken.queue, taken.ability
FROM taken JOIN tickwell.cursor ON cursor.job = taken.job
ORDER BY taken.rank, taken.id;

-- name: claim_ids
-- The same of given executions, whatever lane they are in.
WITH picked AS MATERIALIZED (
    SELECT id, job, kind, attempt, charged, lost, returned, fire_time, run_at, rank, expires_at,
           own_payload, holds_job, holds_key, gate
    FROM tickwell.queue
    WHERE id = ANY ($5::uuid[]) AND state = 2 AND queue = ANY ($6::text[])
      AND ability = ANY ($7::text[]) AND run_at <= $8 AND job <> ALL ($9::uuid[])
      AND (expires_at IS NULL OR expires_at > $3)
      AND EXISTS (SELECT 1 FROM tickwell.worker WHERE worker.id = $1 AND NOT worker.lost)
    ORDER BY rank, id LIMIT $4 FOR UPDATE SKIP LOCKED
),
taken AS MATERIALIZED (
    SELECT * FROM (
        SELECT picked.*, execution.payload, sum(octet_length(execution.payload)) OVER (
            ORDER BY picked.rank, picked.id ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
        ) AS bytes_before
        FROM picked LEFT JOIN tickwell.execution ON picked.own_payload AND execution.id = picked.id
    ) AS summed WHERE coalesce(bytes_before, 0) < $10
),
gone AS (
    -- An array keeps the planner on the key, however little it knows of the table.
    DELETE FROM tickwell.queue WHERE id = ANY (ARRAY(SELECT taken.id FROM taken))
),
started AS (
    INSERT INTO tickwell.running (id, job, attempt, charged, lost, returned, run_at, rank,
                                  expires_at, worker, claim_id, deadline, holds_job, gate)
    SELECT taken.id, taken.job, taken.attempt + 1, taken.charged + 1, taken.lost,
           taken.returned, taken.run_at, taken.rank, taken.expires_at, $1, $2,
           greatest($3, taken.run_at) + cursor.hard + 60000, taken.holds_job,
           CASE WHEN taken.holds_key THEN taken.gate END
    FROM taken JOIN tickwell.cursor ON cursor.job = taken.job
)
SELECT taken.id::text, taken.job::text, taken.kind, taken.attempt, taken.charged, taken.lost,
       taken.returned, taken.fire_time, taken.run_at, cursor.version, cursor.hard,
       taken.payload
FROM taken JOIN tickwell.cursor ON cursor.job = taken.job
ORDER BY taken.rank, taken.id;

-- name: claimable
-- How many each lane has of the best of these queues and abilities: lanes are found by one seek
-- each, however much they hold. Lanes that are spent are left out.
WITH RECURSIVE lane (queue, ability) AS (
    SELECT wanted.queue, (SELECT min(queue.ability) FROM tickwell.queue
                          WHERE queue.state = 2 AND queue.queue = wanted.queue)
    FROM unnest($1::text[]) AS wanted (queue)
    UNION ALL
    SELECT lane.queue, (SELECT min(queue.ability) FROM tickwell.queue
                        WHERE queue.state = 2 AND queue.queue = lane.queue
                          AND queue.ability > lane.ability)
    FROM lane WHERE lane.ability IS NOT NULL
),
best (queue, ability) AS (
    SELECT lane.queue, lane.ability FROM lane CROSS JOIN LATERAL (
        SELECT queue.id, queue.rank FROM tickwell.queue
        WHERE queue.state = 2 AND queue.queue = lane.queue AND queue.ability = lane.ability
          AND queue.run_at <= $3 AND (queue.expires_at IS NULL OR queue.expires_at > $4)
          AND queue.job <> ALL ($6::uuid[])
        ORDER BY queue.rank, queue.id LIMIT $5
    ) AS one
    WHERE lane.ability = ANY ($2::text[])
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
SELECT execution.id::text, running.job::text, execution.kind, running.attempt, running.charged,
       running.lost, running.returned, execution.fire_time, running.run_at, execution.payload,
       running.deadline, running.worker, running.claim_id, cursor.version
FROM tickwell.running
JOIN tickwell.execution ON execution.id = running.id
JOIN tickwell.cursor ON cursor.job = running.job
JOIN tickwell.worker ON worker.id = running.worker AND NOT worker.lost
WHERE running.worker = $1 AND running.claim_id = $2 ORDER BY execution.id;
