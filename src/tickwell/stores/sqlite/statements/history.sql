-- Executions as people see them.

-- name: list_executions
-- Executions; {index}, {where} and {order} are filled in by what is asked for.
SELECT execution.id, execution.project, job.id, execution.job_version, execution.kind,
       coalesce(execution.state, queue.state, 3), execution.fire_time, execution.run_at,
       execution.queue, execution.ability, execution.created_at, execution.payload,
       execution.request_key, coalesce(running.attempt, execution.attempt),
       coalesce(running.charged, execution.charged), coalesce(running.lost, execution.lost),
       coalesce(running.returned, execution.returned), execution.reason,
       coalesce(running.worker, execution.worker), running.deadline, running.cancel,
       CASE WHEN running.attempt IS NULL THEN execution.started_at ELSE running.started_at END,
       execution.ended_at, execution.error, execution.result,
       execution.revived_from, execution.outcome
FROM execution {index}
CROSS JOIN job ON job.key = execution.job
LEFT JOIN queue ON execution.state IS NULL AND queue.key = execution.key
LEFT JOIN running ON execution.state IS NULL AND running.key = execution.key
WHERE {where} ORDER BY {order} DESC LIMIT ?;

-- name: executions_edge
-- How far a list of executions is to look.
SELECT id FROM execution {index} WHERE {where} ORDER BY id DESC LIMIT 1 OFFSET ?;

-- name: pending_keys
-- Where pending executions are found; {where} and {order} are filled in by what is asked for.
SELECT key FROM (SELECT key FROM queue WHERE {where} {order});

-- name: running_keys
-- Where running executions are found.
SELECT key FROM running WHERE {where};

-- name: attempts
-- The attempts of an execution that another one followed.
SELECT number, outcome, worker, started_at, ended_at, error, result FROM attempt
WHERE execution = (SELECT key FROM execution WHERE id = ?1) ORDER BY number;

-- name: list_skips
-- Range skips of a job that touch a span, oldest first.
SELECT skip.first, skip.last, skip.count, skip.reason
FROM job CROSS JOIN skip INDEXED BY skip_job ON skip.job = job.key
WHERE job.id = ?1 AND skip.first < ?2 AND skip.last >= ?3 ORDER BY skip.first, skip.last, skip.rowid;

-- name: requests
-- The executions that requests made before.
SELECT job.id, execution.request_key, execution.id FROM json_each(?1) AS wanted
CROSS JOIN job ON job.id = json_extract(wanted.value, '$[0]')
CROSS JOIN execution INDEXED BY execution_request ON execution.job = job.key
    AND execution.request_key = json_extract(wanted.value, '$[1]');

-- name: ended_counts
-- How many executions ended, by state.
SELECT state, sum(count) FROM tally WHERE ?1 IS NULL OR project = ?1 GROUP BY state;

-- name: pending_counts
-- How many executions are pending, by state.
SELECT state, count(*) FROM queue GROUP BY state;

-- name: running_count
-- How many executions are running.
SELECT count(*) FROM running;

-- name: queue_lengths
-- How many executions each project has, by queue and live state, and how many of them are due.
-- By job first: a backlog has far fewer jobs than executions.
SELECT job.project, live.queue, live.state, sum(live.count), sum(live.due)
FROM (SELECT job, queue, state, count(*) AS count, sum(run_at <= ?1) AS due
      FROM queue GROUP BY job, queue, state) AS live
CROSS JOIN job ON job.key = live.job GROUP BY 1, 2, 3
UNION ALL
SELECT execution.project, execution.queue, 3, count(*), sum(running.run_at <= ?1)
FROM running CROSS JOIN execution ON execution.key = running.key GROUP BY 1, 2;

-- name: lane_lengths
-- Each lane with what is best in it, and how many it has: one seek, and as many steps as are counted.
WITH RECURSIVE head (key, queue, ability) AS (
    SELECT * FROM (SELECT key, queue, ability FROM queue INDEXED BY {index}
                   WHERE state = {code} ORDER BY queue, ability, rank, id LIMIT 1)
    UNION ALL
    -- Not by one comparison of both: that seeks the queue only, and walks over the lane.
    SELECT queue.key, queue.queue, queue.ability FROM head CROSS JOIN queue ON queue.key = coalesce(
        (SELECT later.key FROM queue AS later INDEXED BY {index}
         WHERE later.state = {code} AND later.queue = head.queue AND later.ability > head.ability
         ORDER BY later.ability, later.rank, later.id LIMIT 1),
        (SELECT later.key FROM queue AS later INDEXED BY {index}
         WHERE later.state = {code} AND later.queue > head.queue
         ORDER BY later.queue, later.ability, later.rank, later.id LIMIT 1)
    )
)
SELECT head.queue, head.ability, (
    SELECT count(*) FROM (SELECT 1 FROM queue AS one INDEXED BY {index}
                          WHERE one.state = {code} AND one.queue = head.queue
                            AND one.ability = head.ability LIMIT ?1)
), execution.project, job.id, execution.job_version, execution.run_at
FROM head CROSS JOIN execution ON execution.key = head.key CROSS JOIN job ON job.key = execution.job;

-- name: live_counts
-- How many executions of a project are live, by state.
-- By the small tables only: of history there may be a million rows.
SELECT queue.state, count(*) FROM queue CROSS JOIN job ON job.key = queue.job
WHERE job.project = ?1 GROUP BY 1
UNION ALL
SELECT 3, count(*) FROM running CROSS JOIN job ON job.key = running.job WHERE job.project = ?1;
