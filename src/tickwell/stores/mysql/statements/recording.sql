-- Recording executions: new ones in batches, and slots that are armed again.

-- name: insert_new
-- Record executions and put them into the queue; those with an end are over already. An id that
-- exists is left alone, it is the guard: whoever gets fewer back than were given takes all back.
SET @new = $1;
INSERT INTO tickwell_execution (
    id, project, job, job_version, kind, fire_time, run_at, queue, ability, created_at, overlap,
    gate, gate_limit, payload, request_key, revived_from, state, rare, reason, ended_at
)
SELECT id, project, job, job_version, kind, fire_time, run_at, queue, ability, created_at, overlap,
       gate, gate_limit, payload, request_key, revived_from,
       CASE WHEN state = 8 THEN state END, CASE WHEN state = 8 THEN state END,
       CASE WHEN state = 8 THEN 'overlap' END, CASE WHEN state = 8 THEN created_at END
FROM ROWS(@new, id ID, project NAME, job ID, job_version INT, kind INT, fire_time INT, run_at INT,
          queue NAME, ability NAME, created_at INT, overlap INT, gate NAME, gate_limit INT,
          payload TEXT, request_key NAME, revived_from NAME, state INT) AS new
ON DUPLICATE KEY UPDATE tickwell_execution.id = tickwell_execution.id;
SET @recorded = ROW_COUNT();
INSERT INTO tickwell_queue (
    id, job, state, queue, ability, kind, fire_time, run_at, `rank`, look_at, expires_at, overlap,
    gate, gate_limit, waits, holds_job, holds_key, own_payload
)
SELECT id, job, state, queue, ability, kind, fire_time, run_at, new.rank, look_at, expires_at,
       overlap, gate, gate_limit, waits, holds_job, holds_key, payload IS NOT NULL
FROM ROWS(@new, id ID, project NAME, job ID, job_version INT, kind INT, fire_time INT, run_at INT,
          queue NAME, ability NAME, created_at INT, overlap INT, gate NAME, gate_limit INT,
          payload TEXT, request_key NAME, revived_from NAME, state INT, waits INT, look_at INT,
          holds_job INT, `rank` INT, expires_at INT, holds_key INT) AS new
WHERE state <> 8
ON DUPLICATE KEY UPDATE tickwell_queue.id = tickwell_queue.id;
SELECT @recorded;
SET @new = NULL;

-- name: existing
-- Which of these ids are taken.
SELECT id FROM tickwell_execution WHERE id IN $1[];

-- name: slot
-- What is on record under an id.
SELECT state, reason, attempt FROM tickwell_execution WHERE id = $1;

-- name: keep_attempt
-- The last attempt gets a row of its own, since the execution goes on.
INSERT INTO tickwell_attempt (execution, number, outcome, worker, started_at, ended_at, error)
SELECT id, attempt, outcome, worker, started_at, ended_at, error FROM tickwell_execution
WHERE id = $1 AND outcome IS NOT NULL;

-- name: arm_again
-- A slot that was skipped goes on under its id; the attempt number never falls.
UPDATE tickwell_execution SET
    job_version = $2, kind = $3, fire_time = $4, run_at = $5, queue = $6, ability = $7,
    overlap = $8, gate = $9, gate_limit = $10, payload = $11, request_key = $12,
    revived_from = $13, state = NULL, rare = NULL, charged = 0, lost = 0, returned = 0,
    outcome = NULL, reason = NULL, worker = NULL, started_at = NULL, ended_at = NULL, error = NULL,
    result = NULL
WHERE id = $1;

-- name: queue_armed
-- It waits.
INSERT INTO tickwell_queue (id, job, state, queue, ability, kind, fire_time, run_at, `rank`,
                            look_at, expires_at, overlap, gate, gate_limit, attempt, own_payload)
SELECT id, job, 0, queue, ability, kind, fire_time, run_at, $2, run_at, $3, overlap, gate,
       gate_limit, attempt, payload IS NOT NULL
FROM tickwell_execution WHERE id = $1;

-- name: count_made
-- Executions on record of jobs, and who holds their gates.
UPDATE ROWS($1, made INT, holder ID, prune_at INT, job ID) AS more
STRAIGHT_JOIN tickwell_cursor AS head ON head.job = more.job
SET head.holder = more.holder,
    head.prune_at = CASE
        WHEN head.keep >= head.made AND head.keep < head.made + more.made THEN 0
        ELSE COALESCE(LEAST(head.prune_at, more.prune_at), more.prune_at) END,
    head.made = head.made + more.made;

-- name: count_one_made
-- One more execution on record.
UPDATE tickwell_cursor SET
    prune_at = CASE WHEN made = keep THEN 0 ELSE COALESCE(LEAST(prune_at, $2), $2) END,
    made = made + 1
WHERE job = $1;

-- name: count_run
-- A fire that nobody has counted yet.
UPDATE tickwell_cursor SET runs = runs + 1 WHERE job = $1;

-- name: insert_skips
-- Fire times that were passed over together.
INSERT INTO tickwell_skip (job, first, last, count, reason, prune_at)
SELECT job, first, last, new.count, reason, prune_at
FROM ROWS($1, job ID, first INT, last INT, count INT, reason INT, prune_at INT) AS new;
