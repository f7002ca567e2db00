-- Executions as people see them.

-- name: list_executions
-- Executions; {where} is filled in by what is asked for.
SELECT execution.id::text, execution.project, execution.job::text, execution.job_version,
       execution.kind, coalesce(execution.state, queue.state, 3), execution.fire_time,
       execution.run_at, execution.queue, execution.ability, execution.created_at,
       execution.payload, execution.request_key, coalesce(running.attempt, execution.attempt),
       coalesce(running.charged, execution.charged), coalesce(running.lost, execution.lost),
       coalesce(running.returned, execution.returned), execution.reason,
       coalesce(running.worker, execution.worker), running.deadline, running.cancel,
       CASE WHEN running.attempt IS NULL THEN execution.started_at ELSE running.started_at END,
       execution.ended_at, execution.error, execution.result,
       execution.revived_from, execution.outcome
FROM {source}
LEFT JOIN tickwell.queue ON execution.state IS NULL AND queue.id = execution.id
LEFT JOIN tickwell.running ON execution.state IS NULL AND running.id = execution.id
WHERE {where} ORDER BY execution.id DESC LIMIT {limit};

-- name: executions_edge
-- How far a list of executions is to look.
SELECT execution.id::text FROM tickwell.execution
WHERE {where} ORDER BY execution.id DESC OFFSET {reach} LIMIT 1;

-- name: pending_edge
-- How far a list of live executions is to look; those that run are few.
SELECT queue.id::text FROM tickwell.queue WHERE {where} ORDER BY queue.id DESC OFFSET {reach} LIMIT 1;

-- name: attempts
-- The attempts of an execution that another one followed.
SELECT number, outcome, worker, started_at, ended_at, error, result FROM tickwell.attempt
WHERE execution = $1 ORDER BY number;

-- name: list_skips
-- Range skips of a job that touch a span, oldest first.
SELECT first, last, count, reason FROM tickwell.skip
WHERE job = $1 AND first < $2 AND last >= $3 ORDER BY first, last, key;

-- name: requests
-- The executions that requests made before.
SELECT execution.job::text, execution.request_key, execution.id::text
FROM unnest($1::uuid[], $2::text[]) AS wanted (job, request_key)
JOIN tickwell.execution
    ON execution.job = wanted.job AND execution.request_key = wanted.request_key;

-- name: ended_counts
-- How many executions ended, by state.
SELECT state, sum(count)::bigint FROM tickwell.tally
WHERE $1::text IS NULL OR project = $1 GROUP BY state;

-- name: pending_counts
-- How many executions are pending, by state.
SELECT state, count(*) FROM tickwell.queue GROUP BY state;

-- name: running_count
-- How many executions are running.
SELECT count(*) FROM tickwell.running;

-- name: queue_lengths
-- How many executions each project has, by queue and live state, and how many of them are due.
-- By job first: a backlog has far fewer jobs than executions.
SELECT job.project, live.queue, live.state, sum(live.count)::bigint, sum(live.due)::bigint
FROM (SELECT job, queue, state, count(*) AS count,
             count(*) FILTER (WHERE run_at <= $1::bigint) AS due
      FROM tickwell.queue GROUP BY job, queue, state) AS live
JOIN tickwell.job ON job.id = live.job GROUP BY 1, 2, 3
UNION ALL
SELECT execution.project, execution.queue, 3, count(*),
       count(*) FILTER (WHERE running.run_at <= $1::bigint)
FROM tickwell.running JOIN tickwell.execution ON execution.id = running.id GROUP BY 1, 2;

-- name: lane_lengths
-- Each lane with what is best in it, and how many it has: one seek, and as many steps as are counted.
WITH RECURSIVE head (id, queue, ability) AS (
    (SELECT id, queue, ability FROM tickwell.queue WHERE state = {code}
     ORDER BY queue, ability, rank, id LIMIT 1)
    UNION ALL
    SELECT later.id, later.queue, later.ability FROM head CROSS JOIN LATERAL (
        SELECT queue.id, queue.queue, queue.ability FROM tickwell.queue
        WHERE queue.state = {code} AND (queue.queue, queue.ability) > (head.queue, head.ability)
        ORDER BY queue.queue, queue.ability, queue.rank, queue.id LIMIT 1
    ) AS later
)
SELECT head.queue, head.ability, (
    SELECT count(*) FROM (SELECT FROM tickwell.queue AS one
                          WHERE one.state = {code} AND one.queue = head.queue
                            AND one.ability = head.ability LIMIT $1) AS counted
), best.project, best.job::text, best.job_version, best.run_at
FROM head CROSS JOIN LATERAL (
    -- By its limit a seek for each lane, also where the table had a single row at the last look.
    SELECT project, job, job_version, run_at FROM tickwell.execution
    WHERE execution.id = head.id LIMIT 1
) AS best;

-- name: live_counts
-- How many executions of a project are live, by state.
SELECT live.state, count(*)
FROM (SELECT id, state FROM tickwell.queue UNION ALL SELECT id, 3 FROM tickwell.running) AS live
JOIN tickwell.execution ON execution.id = live.id
WHERE execution.project = $1 GROUP BY live.state;

-- name: history
-- Where executions are found.
tickwell.execution;

-- name: live
-- Where live executions are found: the narrow tables first.
(SELECT id FROM ({live}) AS every) AS live
JOIN tickwell.execution ON execution.id = live.id AND execution.state IS NULL;

-- name: pending_ids
-- The pending ones.
SELECT id FROM tickwell.queue WHERE state IN ({codes});

-- name: running_ids
-- The running ones.
SELECT id FROM tickwell.running;

-- name: no_ids
-- None.
SELECT NULL::uuid AS id WHERE FALSE;
