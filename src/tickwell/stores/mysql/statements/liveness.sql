-- Workers: beats, loss, and what is left behind.

-- name: beat
-- Write the worker's row with the next beat number; one that was declared lost stays lost.
INSERT INTO tickwell_worker (id, beat, seen_at, lost, document) VALUES ($1, 1, $2, FALSE, $3)
ON DUPLICATE KEY UPDATE beat = beat + 1, seen_at = $2, document = $3;
SELECT beat, lost FROM tickwell_worker WHERE id = $1;

-- name: owned
-- What a worker holds, by id.
SELECT id, attempt, claim_id, cancel,
       CASE WHEN cancel THEN (SELECT execution.reason FROM tickwell_execution AS execution
                              WHERE execution.id = tickwell_running.id) END
FROM tickwell_running FORCE INDEX (running_worker) WHERE worker = $1 ORDER BY id;

-- name: forget_worker
-- A worker that has left.
DELETE FROM tickwell_worker WHERE id = $1;

-- name: declare_lost
-- Mark a worker lost if its beat number is still this one.
UPDATE tickwell_worker SET lost = TRUE WHERE id = $1 AND beat = $2;

-- name: is_lost
-- Whether a worker is lost.
SELECT lost FROM tickwell_worker WHERE id = $1;

-- name: orphans
-- Running executions of lost or forgotten workers, and those past their deadline, by id.
SELECT execution.id, running.job, execution.kind, running.attempt, running.charged, running.lost,
       running.returned, execution.fire_time, running.run_at, execution.payload, running.deadline,
       running.worker, running.claim_id, running.started_at,
       head.version
FROM (
    SELECT left_behind.id
    FROM (SELECT DISTINCT worker FROM tickwell_running) AS owner
    LEFT JOIN tickwell_worker AS worker ON worker.id = owner.worker
    STRAIGHT_JOIN tickwell_running AS left_behind ON left_behind.worker = owner.worker
    WHERE worker.id IS NULL OR worker.lost
    UNION
    SELECT late.id FROM tickwell_running AS late WHERE late.deadline < $1
) AS orphan
STRAIGHT_JOIN tickwell_running AS running ON running.id = orphan.id
STRAIGHT_JOIN tickwell_execution AS execution ON execution.id = running.id
STRAIGHT_JOIN tickwell_cursor AS head ON head.job = running.job
WHERE running.job NOT IN $2[]
ORDER BY execution.id LIMIT $3;

-- name: list_workers
-- All workers that the store remembers, by id.
SELECT document, beat, seen_at, lost FROM tickwell_worker ORDER BY id;

-- name: next_wakeup
-- The first cursor to be looked at; the first waiting execution, but for what is held; and the
-- first pending one to pass its time to live.
SELECT (SELECT next_fire_time FROM tickwell_cursor FORCE INDEX (cursor_due)
        WHERE next_fire_time IS NOT NULL AND job NOT IN $3[] ORDER BY next_fire_time LIMIT 1),
       (SELECT look_at FROM tickwell_queue FORCE INDEX (queue_look)
        WHERE state = 0 AND look_at < $1 AND job NOT IN $4[] ORDER BY look_at LIMIT 1),
       (SELECT expires_at FROM tickwell_queue FORCE INDEX (queue_expire)
        WHERE expires_at IS NOT NULL AND job NOT IN $4[] ORDER BY expires_at LIMIT 1),
       {run};

-- name: next_run
-- The first queued one of a queue to come due.
(SELECT run_at FROM tickwell_queue FORCE INDEX (queue_run)
 WHERE state = 2 AND queue = {queue} AND run_at > $2 ORDER BY run_at LIMIT 1);

-- name: next_queue
-- The queue after this one that holds something.
SELECT queue FROM tickwell_queue FORCE INDEX (queue_claim) WHERE state = 2 AND queue > $1
ORDER BY queue LIMIT 1;

-- name: record_starts
-- When attempts that are still under way started.
UPDATE ROWS($1, started_at INT, id ID, attempt INT) AS report
STRAIGHT_JOIN tickwell_running AS running FORCE INDEX (PRIMARY)
    ON running.id = report.id AND running.attempt = report.attempt
SET running.started_at = report.started_at;
SELECT running.id, running.job, running.gate
FROM ROWS($1, started_at INT, id ID, attempt INT) AS report
STRAIGHT_JOIN tickwell_running AS running
    ON running.id = report.id AND running.attempt = report.attempt;

-- name: give_permit_back
-- An attempt that has started needs its permit of a rate no more.
UPDATE tickwell_running SET gate = NULL
WHERE id = $1 AND attempt = $2 AND gate IS NOT NULL;
