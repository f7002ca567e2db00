-- Executions as people see them.

-- name: list_executions
-- Executions; {where} is filled in by what is asked for.
SELECT execution.id, execution.project, execution.job, execution.job_version, execution.kind,
       COALESCE(execution.state, queue.state, 3), execution.fire_time, execution.run_at,
       execution.queue, execution.ability, execution.created_at, execution.payload,
       execution.request_key, COALESCE(running.attempt, execution.attempt),
       COALESCE(running.charged, execution.charged), COALESCE(running.lost, execution.lost),
       COALESCE(running.returned, execution.returned), execution.reason,
       COALESCE(running.worker, execution.worker), running.deadline, running.cancel,
       CASE WHEN running.attempt IS NULL THEN execution.started_at ELSE running.started_at END,
       execution.ended_at, execution.error, execution.result,
       execution.revived_from, execution.outcome
FROM {source}
LEFT JOIN tickwell_queue AS queue ON execution.state IS NULL AND queue.id = execution.id
LEFT JOIN tickwell_running AS running ON execution.state IS NULL AND running.id = execution.id
WHERE {where} ORDER BY execution.id DESC LIMIT {limit};

-- name: executions_edge
-- How far a list of executions is to look.
SELECT execution.id FROM tickwell_execution AS execution {index}
WHERE {where} ORDER BY execution.id DESC LIMIT 1 OFFSET {reach};

-- name: pending_edge
-- How far a list of live executions is to look; those that run are few.
SELECT id FROM tickwell_queue WHERE {where} ORDER BY id DESC LIMIT 1 OFFSET {reach};

-- name: attempts
-- The attempts of an execution that another one followed.
SELECT number, outcome, worker, started_at, ended_at, error, result FROM tickwell_attempt
WHERE execution = $1 ORDER BY number;

-- name: list_skips
-- Range skips of a job that touch a span, oldest first.
SELECT first, last, count, reason FROM tickwell_skip
WHERE job = $1 AND first < $2 AND last >= $3 ORDER BY first, last, id;

-- name: requests
-- The executions that requests made before.
SELECT execution.job, execution.request_key, execution.id
FROM ROWS($1, job ID, request_key NAME) AS wanted STRAIGHT_JOIN tickwell_execution AS execution
  ON execution.job = wanted.job AND execution.request_key = wanted.request_key;

-- name: ended_counts
-- How many executions ended, by state.
SELECT state, CAST(SUM(count) AS SIGNED) FROM tickwell_tally
WHERE $1 IS NULL OR project = $1 GROUP BY state;

-- name: pending_counts
-- How many executions are pending, by state.
SELECT state, COUNT(*) FROM tickwell_queue GROUP BY state;

-- name: running_count
-- How many executions are running.
SELECT COUNT(*) FROM tickwell_running;

-- name: queue_lengths
-- How many executions each project has, by queue and live state, and how many of them are due.
-- By job first: a backlog has far fewer jobs than executions.
SELECT job.project, live.queue, live.state, CAST(SUM(live.count) AS SIGNED),
       CAST(SUM(live.due) AS SIGNED)
FROM (SELECT job, queue, state, COUNT(*) AS count, SUM(run_at <= $1) AS due
      FROM tickwell_queue GROUP BY job, queue, state) AS live
STRAIGHT_JOIN tickwell_job AS job ON job.id = live.job
GROUP BY job.project, live.queue, live.state
UNION ALL
SELECT execution.project, execution.queue, 3, COUNT(*), CAST(SUM(running.run_at <= $1) AS SIGNED)
FROM tickwell_running AS running
STRAIGHT_JOIN tickwell_execution AS execution ON execution.id = running.id
GROUP BY execution.project, execution.queue;

-- name: all_lanes
-- The lanes of a state: one step of the index for each. Without the state among what is selected,
-- MariaDB walks over all rows (20,000 instead of 5).
SELECT DISTINCT state, queue, ability FROM tickwell_queue FORCE INDEX (queue_claim)
WHERE state = $1 ORDER BY queue, ability;

-- name: lane_length
-- How many a lane has, in as many steps as are counted, and what is best in it. To be merged with
-- others; a step of the index for each lane, which the server takes for values only.
(SELECT {queue}, {ability}, (
     SELECT COUNT(*) FROM (SELECT 1 FROM tickwell_queue FORCE INDEX (queue_claim)
                           WHERE state = $1 AND queue = {queue} AND ability = {ability}
                           LIMIT $2) AS counted
 ), execution.project, execution.job, execution.job_version, execution.run_at
 FROM (SELECT id FROM tickwell_queue FORCE INDEX (queue_claim)
       WHERE state = $1 AND queue = {queue} AND ability = {ability}
       ORDER BY `rank`, id LIMIT 1) AS best
 STRAIGHT_JOIN tickwell_execution AS execution FORCE INDEX (PRIMARY) ON execution.id = best.id);

-- name: live_counts
-- How many executions of a project are live, by state.
SELECT live.state, COUNT(*)
FROM (SELECT id, state FROM tickwell_queue UNION ALL SELECT id, 3 FROM tickwell_running) AS live
JOIN tickwell_execution AS execution ON execution.id = live.id
WHERE execution.project = $1 GROUP BY live.state;

-- name: history
-- Where executions are found.
tickwell_execution AS execution {index};

-- name: live
-- Where live executions are found: the narrow tables first.
({live}) AS live
STRAIGHT_JOIN tickwell_execution AS execution
  ON execution.id = live.id AND execution.state IS NULL;

-- name: pending_ids
-- The pending ones.
SELECT id FROM tickwell_queue WHERE state IN ({codes});

-- name: running_ids
-- The running ones.
SELECT id FROM tickwell_running;

-- name: no_ids
-- None.
SELECT id FROM tickwell_running WHERE FALSE;
