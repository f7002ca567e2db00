-- The planner's statements.

-- name: due
-- Jobs to be planned, oldest first, with their cursors, but for those that are left out.
-- Who holds their gates is read when the plans are written.
SELECT cursor.id, cursor.version, cursor.state, cursor.next_fire_time, cursor.after, cursor.runs,
       cursor.failures, cursor.nudged, cursor.paused_through, cursor.pause,
       NULL
FROM cursor WHERE next_fire_time <= ?1 AND id NOT IN (SELECT value FROM json_each(?2))
ORDER BY next_fire_time, id LIMIT ?3;

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
SELECT project FROM head WHERE oldest <= ?1 LIMIT ?2;

-- name: due_of_project
-- The same jobs as `due`, of one project.
SELECT cursor.id, cursor.version, cursor.state, cursor.next_fire_time, cursor.after, cursor.runs,
       cursor.failures, cursor.nudged, cursor.paused_through, cursor.pause,
       NULL
FROM cursor INDEXED BY cursor_turn
WHERE next_fire_time <= ?1 AND id NOT IN (SELECT value FROM json_each(?2)) AND project = ?4
ORDER BY next_fire_time, id LIMIT ?3;

-- name: documents
-- The definitions of several jobs.
SELECT job.id, job.version, job.document FROM json_each(?1) AS wanted
CROSS JOIN job ON job.id = wanted.value;

-- name: cursors
-- The cursors of several jobs as they are now, with the columns of `due`.
SELECT cursor.id, cursor.version, cursor.state, cursor.next_fire_time, cursor.after, cursor.runs,
       cursor.failures, cursor.nudged, cursor.paused_through, cursor.pause,
       (SELECT execution.id FROM execution WHERE execution.key = cursor.holder)
FROM json_each(?1) AS wanted CROSS JOIN job ON job.id = wanted.value
CROSS JOIN cursor ON cursor.job = job.key;

-- name: move_cursor
-- What a plan did to a cursor, the gate that its executions took, and how many there are.
UPDATE cursor SET state = ?1, next_fire_time = ?2, after = ?3, runs = ?4, nudged = ?5,
                  paused_through = ?6, pause = ?7,
                  holder = (SELECT key FROM execution WHERE id = ?8), made = made + ?9,
                  prune_at = CASE WHEN keep >= made AND keep < made + ?9 THEN 0
                                  WHEN ?9 > 0 THEN min(coalesce(prune_at, ?10), ?10)
                                  ELSE prune_at END
WHERE job = (SELECT key FROM job WHERE id = ?11);

-- name: held
-- Executions of a job that wait until it is resumed.
SELECT id FROM queue WHERE job = (SELECT key FROM job WHERE id = ?1) AND state = 0 AND run_at = ?2
ORDER BY id;
