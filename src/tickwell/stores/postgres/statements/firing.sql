-- The planner's statements.

-- name: due
-- Jobs to be planned, oldest first, with their cursors; what somebody else works on is left alone,
-- and so is what this process cannot read.
SELECT job::text, version, state, next_fire_time, after, runs, failures, nudged, paused_through,
       pause, holder::text
FROM tickwell.cursor WHERE next_fire_time <= $1 AND job <> ALL ((SELECT $2::text::uuid[])::uuid[])
ORDER BY next_fire_time, job LIMIT $3
FOR NO KEY UPDATE SKIP LOCKED;

-- name: due_projects
-- Projects with jobs to be planned: one step along the index for each project, whatever it has.
WITH RECURSIVE head (project, oldest) AS (
    (SELECT project, next_fire_time FROM tickwell.cursor WHERE next_fire_time IS NOT NULL
     ORDER BY project, next_fire_time LIMIT 1)
    UNION ALL
    SELECT following.* FROM head CROSS JOIN LATERAL (
        SELECT project, next_fire_time FROM tickwell.cursor
        WHERE next_fire_time IS NOT NULL AND project > head.project
        ORDER BY project, next_fire_time LIMIT 1) AS following
)
SELECT project FROM head WHERE oldest <= $1 LIMIT $2;

-- name: due_of_project
-- The same jobs as `due`, of one project.
SELECT job::text, version, state, next_fire_time, after, runs, failures, nudged, paused_through,
       pause, holder::text
FROM tickwell.cursor
WHERE next_fire_time <= $1 AND job <> ALL ((SELECT $2::text::uuid[])::uuid[]) AND project = $4
ORDER BY next_fire_time, job LIMIT $3
FOR NO KEY UPDATE SKIP LOCKED;

-- name: is_due
-- Whether there is anything to be planned.
SELECT 1 FROM tickwell.cursor
WHERE next_fire_time <= $1 AND job <> ALL ((SELECT $2::text::uuid[])::uuid[]) LIMIT 1;

-- name: documents
-- The definitions of several jobs.
SELECT job.id::text, job.version, job.document FROM unnest($1::text::uuid[]) AS wanted (id)
JOIN tickwell.job ON job.id = wanted.id;

-- name: move_cursor
-- What plans did to cursors, the gates that executions took, and how many there are.
UPDATE tickwell.cursor SET
    state = moved.state, next_fire_time = moved.next_fire_time, after = moved.after,
    runs = moved.runs, nudged = moved.nudged, paused_through = moved.paused_through,
    pause = moved.pause, holder = moved.holder, made = cursor.made + moved.made,
    prune_at = CASE WHEN cursor.keep >= cursor.made AND cursor.keep < cursor.made + moved.made
                    THEN 0
                    WHEN moved.made > 0 THEN least(cursor.prune_at, moved.prune_at)
                    ELSE cursor.prune_at END
FROM unnest($1::text::smallint[], $2::text::bigint[], $3::text::bigint[], $4::text::bigint[],
            $5::text::boolean[], $6::text::bigint[], $7::text::text[], $8::text::uuid[],
            $9::text::integer[], $10::text::bigint[], $11::text::uuid[])
     AS moved (state, next_fire_time, after, runs, nudged, paused_through, pause, holder, made,
               prune_at, job)
WHERE cursor.job = moved.job;

-- name: held
-- Executions of a job that wait until it is resumed.
SELECT id::text FROM tickwell.queue WHERE job = $1 AND state = 0 AND run_at = $2 ORDER BY id;
