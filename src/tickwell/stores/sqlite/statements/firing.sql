-- The planner's statements.

-- name: due
-- Jobs to be planned, oldest first, with their cursors, but for those that are left out.
SELECT job, id, version, state, next_fire_time, after, runs, failures, nudged, paused_through,
       pause
FROM cursor WHERE next_fire_time <= ? AND job NOT IN (SELECT value FROM json_each(?))
ORDER BY next_fire_time, id LIMIT ?;

-- name: due_projects
-- Projects with jobs to be planned: one step along the index for each project, whatever it has.
WITH RECURSIVE head (project, oldest) AS (
    SELECT '', NULL
    UNION ALL
    SELECT cursor.project, cursor.next_fire_time FROM head JOIN cursor ON cursor.job = (
        SELECT job FROM cursor INDEXED BY cursor_turn
        WHERE project > head.project AND next_fire_time IS NOT NULL
        ORDER BY project, next_fire_time LIMIT 1)
)
SELECT project FROM head WHERE oldest <= ? LIMIT ?;

-- name: due_of_project
-- The same jobs as `due`, of one project.
SELECT job, id, version, state, next_fire_time, after, runs, failures, nudged, paused_through,
       pause
FROM cursor INDEXED BY cursor_turn
WHERE next_fire_time <= ? AND job NOT IN (SELECT value FROM json_each(?)) AND project = ?
ORDER BY next_fire_time, id LIMIT ?;

-- name: documents
-- The definitions of several jobs.
SELECT job.key, job.id, job.version, job.document FROM json_each(?) AS wanted
JOIN job ON job.key = wanted.value;

-- name: cursors
-- The cursors of several jobs as they are now, in the order asked for, and who holds their gates.
SELECT cursor.job, cursor.id, cursor.version, cursor.state, cursor.next_fire_time, cursor.after,
       cursor.runs, cursor.failures, cursor.nudged, cursor.paused_through, cursor.pause,
       cursor.holder
FROM json_each(?) AS wanted CROSS JOIN cursor ON cursor.job = wanted.value;

-- name: move_cursor
-- What a plan did to a cursor, the gate that its executions took, and how many there are.
UPDATE cursor SET state = ?, next_fire_time = ?, after = ?, runs = ?, nudged = ?,
                  paused_through = ?, pause = ?, holder = ?, made = made + ?
WHERE job = ?;

-- name: held
-- Executions of a job that wait until it is resumed.
SELECT key FROM queue WHERE job = ? AND state = 0 AND run_at = ? ORDER BY id;
