-- Workers: beats, loss, and what is left behind.

-- name: beat
-- Write the worker's row with the next beat number; one that was declared lost stays lost.
INSERT INTO tickwell.worker (id, beat, seen_at, lost, document) VALUES ($1, 1, $2, false, $3)
ON CONFLICT (id) DO UPDATE SET beat = worker.beat + 1, seen_at = excluded.seen_at,
                               document = excluded.document
RETURNING beat, lost;

-- name: owned
-- What a worker holds, by id.
SELECT id::text, attempt, claim_id, cancel,
       CASE WHEN cancel THEN (SELECT reason FROM tickwell.execution
                              WHERE execution.id = running.id) END
FROM tickwell.running WHERE worker = $1 ORDER BY id;

-- name: forget_worker
-- A worker that has left.
DELETE FROM tickwell.worker WHERE id = $1;

-- name: declare_lost
-- Mark a worker lost if its beat number is still this one.
UPDATE tickwell.worker SET lost = true WHERE id = $1 AND beat = $2;

-- name: is_lost
-- Whether a worker is lost.
SELECT lost FROM tickwell.worker WHERE id = $1;

-- name: orphans
-- Running executions of lost or forgotten workers, and those past their deadline, by id.
WITH RECURSIVE owner (worker) AS (
    SELECT (SELECT worker FROM tickwell.running ORDER BY worker LIMIT 1)
    UNION ALL
    SELECT (SELECT running.worker FROM tickwell.running WHERE running.worker > owner.worker
            ORDER BY running.worker LIMIT 1)
    FROM owner WHERE owner.worker IS NOT NULL
),
orphan (id) AS (
    SELECT running.id FROM owner
    LEFT JOIN tickwell.worker ON worker.id = owner.worker
    JOIN tickwell.running ON running.worker = owner.worker
    WHERE worker.id IS NULL OR worker.lost
    UNION
    SELECT running.id FROM owner
    JOIN tickwell.running ON running.worker = owner.worker AND running.deadline < $1
)
SELECT execution.id::text, running.job::text, execution.kind, running.attempt, running.charged,
       running.lost, running.returned, execution.fire_time, running.run_at, execution.payload,
       running.deadline, running.worker, running.claim_id, running.started_at,
       cursor.version
FROM orphan
JOIN tickwell.running ON running.id = orphan.id
JOIN tickwell.execution ON execution.id = running.id
JOIN tickwell.cursor ON cursor.job = running.job
WHERE running.job <> ALL ((SELECT $2::text::uuid[])::uuid[])
ORDER BY execution.id LIMIT $3;

-- name: list_workers
-- All workers that the store remembers, by id.
SELECT document, beat, seen_at, lost FROM tickwell.worker ORDER BY id;

-- name: next_wakeup
-- The first of an index, not the least of what there is: that may be looked for all over it.
-- The first cursor to be looked at; the first waiting execution, but for what is held; the first
-- pending one to pass its time to live; and the first queued one of these queues to come due.
SELECT (SELECT next_fire_time FROM tickwell.cursor
        WHERE next_fire_time IS NOT NULL AND job <> ALL ((SELECT $4::text::uuid[])::uuid[])
        ORDER BY next_fire_time, job LIMIT 1),
       (SELECT look_at FROM tickwell.queue
        WHERE state = 0 AND look_at < $1 AND job <> ALL ((SELECT $5::text::uuid[])::uuid[])
        ORDER BY look_at, id LIMIT 1),
       (SELECT expires_at FROM tickwell.queue
        WHERE expires_at IS NOT NULL AND job <> ALL ((SELECT $5::text::uuid[])::uuid[])
        ORDER BY expires_at, id LIMIT 1),
       (SELECT min((SELECT queue.run_at FROM tickwell.queue
                    WHERE queue.state + 0 = 2 AND queue.queue = wanted.name AND queue.run_at > $2
                    ORDER BY queue.queue, queue.run_at LIMIT 1))
        FROM unnest($3::text[]) AS wanted (name));

-- name: queues
-- The queues that hold something.
WITH RECURSIVE lane (name) AS (
    SELECT (SELECT queue FROM tickwell.queue WHERE state + 0 = 2 ORDER BY queue, run_at LIMIT 1)
    UNION ALL
    SELECT (SELECT queue.queue FROM tickwell.queue
            WHERE queue.state + 0 = 2 AND queue.queue > lane.name
            ORDER BY queue.queue, queue.run_at LIMIT 1)
    FROM lane WHERE lane.name IS NOT NULL
)
SELECT name FROM lane WHERE name IS NOT NULL;

-- name: record_starts
-- When attempts that are still under way started. Rows that another write holds are left out.
WITH started AS MATERIALIZED (
    SELECT running.id, report.started_at
    FROM unnest($1::bigint[], $2::uuid[], $3::integer[]) AS report (started_at, id, attempt)
    JOIN tickwell.running ON running.id = ANY (ARRAY[report.id])
                         AND running.attempt = report.attempt
    FOR UPDATE OF running SKIP LOCKED
)
UPDATE tickwell.running SET started_at = started.started_at
FROM started WHERE running.id = started.id
RETURNING running.id::text, running.job::text, running.gate;

-- name: give_permit_back
-- An attempt that has started needs its permit of a rate no more.
UPDATE tickwell.running SET gate = NULL
WHERE id = $1 AND attempt = $2 AND gate IS NOT NULL;
