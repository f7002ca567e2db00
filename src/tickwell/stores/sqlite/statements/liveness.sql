-- Workers: beats, loss, and what is left behind.

-- name: beat
-- Write the worker's row with the next beat number; one that was declared lost stays lost.
INSERT INTO worker (id, beat, seen_at, lost, document) VALUES (?1, 1, ?2, 0, ?3)
ON CONFLICT (id) DO UPDATE SET beat = beat + 1, seen_at = excluded.seen_at,
                               document = excluded.document
RETURNING beat, lost;

-- name: owned
-- What a worker holds, by id.
SELECT execution.id, running.attempt, running.claim_id, running.cancel, execution.reason
FROM running INDEXED BY running_worker CROSS JOIN execution ON execution.key = running.key
WHERE running.worker = ? ORDER BY execution.id;

-- name: forget_worker
-- A worker that has left.
DELETE FROM worker WHERE id = ?;

-- name: declare_lost
-- Mark a worker lost if its beat number is still this one.
UPDATE worker SET lost = 1 WHERE id = ? AND beat = ?;

-- name: is_lost
-- Whether a worker is lost.
SELECT lost FROM worker WHERE id = ?;

-- name: orphans
-- Running executions of lost or forgotten workers, and those past their deadline, by id.
WITH RECURSIVE owner (worker) AS (
    SELECT min(worker) FROM running
    UNION ALL
    SELECT (SELECT min(worker) FROM running WHERE worker > owner.worker)
    FROM owner WHERE owner.worker IS NOT NULL
),
orphan (key) AS (
    SELECT running.key FROM owner
    LEFT JOIN worker ON worker.id = owner.worker
    CROSS JOIN running INDEXED BY running_worker ON running.worker = owner.worker
    WHERE worker.id IS NULL OR worker.lost
    UNION
    SELECT key FROM running INDEXED BY running_deadline WHERE deadline < ?1
)
SELECT execution.id, cursor.id, execution.kind, running.attempt, running.charged, running.lost,
       running.returned, execution.fire_time, running.run_at, execution.payload,
       running.deadline, running.worker, running.claim_id, running.started_at,
       cursor.version
FROM orphan
CROSS JOIN running ON running.key = orphan.key
CROSS JOIN execution ON execution.key = running.key
CROSS JOIN cursor ON cursor.job = running.job
WHERE cursor.id NOT IN (SELECT value FROM json_each(?2))
ORDER BY execution.id LIMIT ?3;

-- name: list_workers
-- All workers that the store remembers, by id.
SELECT document, beat, seen_at, lost FROM worker ORDER BY id;

-- name: next_fire
-- The first cursor to be looked at.
SELECT min(next_fire_time) FROM cursor
WHERE next_fire_time IS NOT NULL AND id NOT IN (SELECT value FROM json_each(?1));

-- name: next_look
-- The first waiting execution to be looked at; what is held is not.
SELECT min(look_at) FROM queue INDEXED BY queue_look
WHERE state = 0 AND look_at < ?1 AND job NOT IN (
    SELECT job.key FROM json_each(?2) AS left_out CROSS JOIN job ON job.id = left_out.value
  );

-- name: next_expiry
-- The first pending execution to pass its time to live.
SELECT min(expires_at) FROM queue INDEXED BY queue_expire
WHERE expires_at IS NOT NULL AND job NOT IN (
    SELECT job.key FROM json_each(?1) AS left_out CROSS JOIN job ON job.id = left_out.value
  );

-- name: next_run
-- The first queued execution of these queues to come due.
SELECT min((SELECT min(run_at) FROM queue INDEXED BY queue_run
            WHERE state = 2 AND queue = wanted.value AND run_at > ?))
FROM json_each(?) AS wanted;

-- name: next_run_anywhere
-- The first queued execution of all queues to come due.
WITH RECURSIVE lane (name) AS (
    SELECT min(queue) FROM queue INDEXED BY queue_run WHERE state = 2
    UNION ALL
    SELECT (SELECT min(queue) FROM queue INDEXED BY queue_run
            WHERE state = 2 AND queue > lane.name)
    FROM lane WHERE lane.name IS NOT NULL
)
SELECT min((SELECT min(run_at) FROM queue INDEXED BY queue_run
            WHERE state = 2 AND queue = lane.name AND run_at > ?))
FROM lane;

-- name: record_starts
-- When attempts that are still under way started.
UPDATE running SET started_at = ?1
WHERE key = (SELECT key FROM execution WHERE id = ?2) AND attempt = ?3
RETURNING ?2, (SELECT id FROM job WHERE job.key = running.job), gate;

-- name: give_permit_back
-- An attempt that has started needs its permit of a rate no more.
UPDATE running SET gate = NULL
WHERE key = (SELECT key FROM execution WHERE id = ?1) AND attempt = ?2 AND gate IS NOT NULL;
