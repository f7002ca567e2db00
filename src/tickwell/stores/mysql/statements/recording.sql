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
-- What is on record under these ids.
SELECT id, state, reason FROM tickwell_execution WHERE id IN $1[];

-- name: slot
-- What is on record under an id.
SELECT state, reason, attempt FROM tickwell_execution WHERE id = $1;

-- name: keep_attempts
-- The last attempt gets a row of its own, since the execution goes on.
INSERT INTO tickwell_attempt (execution, number, outcome, worker, started_at, ended_at, error, result)
SELECT id, attempt, outcome, worker, started_at, ended_at, error, result FROM tickwell_execution
WHERE id IN $1[] AND outcome IS NOT NULL;

-- name: arm_again
-- Slots that were skipped go on under their ids; the attempt number never falls.
SET @new = $1;
UPDATE ROWS(@new, id ID, project NAME, job ID, job_version INT, kind INT, fire_time INT, run_at INT,
          queue NAME, ability NAME, created_at INT, overlap INT, gate NAME, gate_limit INT,
          payload TEXT, request_key NAME, revived_from NAME) AS new
STRAIGHT_JOIN tickwell_execution AS slot FORCE INDEX (PRIMARY) ON slot.id = new.id
SET slot.job_version = new.job_version, slot.kind = new.kind, slot.fire_time = new.fire_time,
    slot.run_at = new.run_at, slot.queue = new.queue, slot.ability = new.ability,
    slot.overlap = new.overlap, slot.gate = new.gate, slot.gate_limit = new.gate_limit,
    slot.payload = new.payload, slot.request_key = new.request_key,
    slot.revived_from = new.revived_from, slot.state = NULL, slot.rare = NULL, slot.charged = 0,
    slot.lost = 0, slot.returned = 0, slot.outcome = NULL, slot.reason = NULL, slot.worker = NULL,
    slot.started_at = NULL, slot.ended_at = NULL, slot.error = NULL, slot.result = NULL;
INSERT INTO tickwell_queue (
    id, job, state, queue, ability, kind, fire_time, run_at, `rank`, look_at, expires_at, overlap,
    gate, gate_limit, waits, holds_job, holds_key, attempt, own_payload
)
SELECT slot.id, slot.job, new.state, new.queue, new.ability, new.kind, new.fire_time, new.run_at,
       new.rank, look_at, expires_at, new.overlap, new.gate, new.gate_limit, waits, holds_job,
       holds_key, slot.attempt, new.payload IS NOT NULL
FROM ROWS(@new, id ID, project NAME, job ID, job_version INT, kind INT, fire_time INT, run_at INT,
          queue NAME, ability NAME, created_at INT, overlap INT, gate NAME, gate_limit INT,
          payload TEXT, request_key NAME, revived_from NAME, state INT, waits INT, look_at INT,
          holds_job INT, `rank` INT, expires_at INT, holds_key INT) AS new
STRAIGHT_JOIN tickwell_execution AS slot FORCE INDEX (PRIMARY) ON slot.id = new.id;
SET @new = NULL;

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
STRAIGHT_JOIN tickwell_cursor AS head FORCE INDEX (PRIMARY) ON head.job = more.job
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

-- name: count_runs
-- Fires that nobody has counted yet.
UPDATE tickwell_cursor SET runs = runs + $1 WHERE job = $2;

-- name: insert_skips
-- Fire times that were passed over together.
INSERT INTO tickwell_skip (job, first, last, count, reason, prune_at)
SELECT job, first, last, new.count, reason, prune_at
FROM ROWS($1, job ID, first INT, last INT, count INT, reason INT, prune_at INT) AS new;
