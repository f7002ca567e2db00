-- The planner's statements.

-- name: due
-- Jobs to be planned, oldest first, with their cursors; what somebody else works on is left alone,
-- and so is what this process cannot read.
SELECT job, version, state, next_fire_time, after, runs, failures, nudged, paused_through, pause,
       holder
FROM tickwell_cursor FORCE INDEX (cursor_due) WHERE next_fire_time <= $1 AND job NOT IN $2[]
ORDER BY next_fire_time, job LIMIT $3 FOR UPDATE SKIP LOCKED;

-- name: due_projects
-- Projects with jobs to be planned: one step along the index for each project, whatever it has.
SELECT project FROM tickwell_cursor FORCE INDEX (cursor_turn) WHERE next_fire_time IS NOT NULL
GROUP BY project HAVING MIN(next_fire_time) <= $1 ORDER BY project LIMIT $2;

-- name: due_of_project
-- The same jobs as `due`, of one project.
SELECT job, version, state, next_fire_time, after, runs, failures, nudged, paused_through, pause,
       holder
FROM tickwell_cursor FORCE INDEX (cursor_turn)
WHERE next_fire_time <= $1 AND job NOT IN $2[] AND project = $4
ORDER BY next_fire_time, job LIMIT $3 FOR UPDATE SKIP LOCKED;

-- name: is_due
-- Whether there is anything to be planned.
SELECT 1 FROM tickwell_cursor FORCE INDEX (cursor_due)
WHERE next_fire_time <= $1 AND job NOT IN $2[] LIMIT 1;

-- name: documents
-- The definitions of several jobs.
SELECT id, version, document FROM tickwell_job WHERE id IN $1[];

-- name: move_cursor
-- What plans did to cursors, the gates that executions took, and how many there are. What is
-- counted is set last: a column that was set has its new value further right.
UPDATE ROWS($1, state INT, next_fire_time INT, after INT, runs INT, nudged INT, paused_through INT,
            pause TEXT, holder ID, made INT, prune_at INT, job ID) AS moved
STRAIGHT_JOIN tickwell_cursor AS head FORCE INDEX (PRIMARY) ON head.job = moved.job
SET head.state = moved.state, head.next_fire_time = moved.next_fire_time, head.after = moved.after,
    head.runs = moved.runs, head.nudged = moved.nudged, head.paused_through = moved.paused_through,
    head.pause = moved.pause, head.holder = moved.holder,
    head.prune_at = CASE
        WHEN head.keep >= head.made AND head.keep < head.made + moved.made THEN 0
        WHEN moved.made > 0 THEN COALESCE(LEAST(head.prune_at, moved.prune_at), moved.prune_at)
        ELSE head.prune_at END,
    head.made = head.made + moved.made;

-- name: held
-- Executions of a job that wait until it is resumed.
SELECT id FROM tickwell_queue FORCE INDEX (queue_job)
WHERE job = $1 AND state = 0 AND run_at = $2 ORDER BY id;
