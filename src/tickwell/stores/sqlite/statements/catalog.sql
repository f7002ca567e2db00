-- Jobs.

-- name: known_ids
-- Which of these ids are taken, and in which project.
SELECT job.id, job.project FROM json_each(?) AS wanted CROSS JOIN job ON job.id = wanted.value;

-- name: known_keys
-- Which of these dedupe keys of a project are taken, and by whom.
SELECT job.dedupe_key, job.id FROM json_each(?) AS wanted
CROSS JOIN job INDEXED BY job_dedupe ON job.project = ? AND job.dedupe_key = wanted.value;

-- name: known_names
-- Which of these names are taken in a project.
SELECT job.name FROM json_each(?) AS wanted
CROSS JOIN job INDEXED BY job_name
    ON job.project = ? AND job.name = wanted.value AND job.deleted = 0;

-- name: key_of_name
-- The job that has a name in a project.
SELECT key FROM job INDEXED BY job_name WHERE deleted = 0 AND project = ? AND name = ?;

-- name: last_job
-- The highest key in use.
SELECT coalesce(max(key), 0) FROM job;

-- name: insert_jobs
-- New jobs.
INSERT INTO job (key, id, project, name, folded, queue, app, tags, auto_remove, dedupe_key,
                 version, document)
VALUES {rows};

-- name: insert_cursors
-- Their cursors.
INSERT INTO cursor (job, id, version, state, next_fire_time, after, runs, failures, nudged,
                    paused_through, pause, hard, keep, project)
VALUES {rows};

-- name: entry
-- A job with its cursor.
SELECT job.key, job.id, job.version, cursor.state, cursor.next_fire_time, cursor.after,
       cursor.runs, cursor.failures, cursor.nudged, cursor.paused_through, cursor.pause,
       job.project, job.document
FROM job CROSS JOIN cursor ON cursor.job = job.key WHERE job.key = ?;

-- name: entry_by_id
-- The same by its id.
SELECT job.key, job.id, job.version, cursor.state, cursor.next_fire_time, cursor.after,
       cursor.runs, cursor.failures, cursor.nudged, cursor.paused_through, cursor.pause,
       job.project, job.document
FROM job CROSS JOIN cursor ON cursor.job = job.key WHERE job.id = ?;

-- name: entries_by_key
-- The jobs of a project with these ids or else names, in the order asked for.
SELECT job.key, job.id, job.version, cursor.state, cursor.next_fire_time, cursor.after,
       cursor.runs, cursor.failures, cursor.nudged, cursor.paused_through, cursor.pause,
       job.project, job.document
FROM json_each(?) AS wanted
CROSS JOIN job ON job.key = coalesce(
    (SELECT given.key FROM job AS given WHERE given.id = wanted.value AND +given.project = ?),
    (SELECT named.key FROM job AS named INDEXED BY job_name
     WHERE named.deleted = 0 AND named.project = ? AND named.name = wanted.value)
)
CROSS JOIN cursor ON cursor.job = job.key;

-- name: list_jobs
-- Jobs by project, name and id; {index}, {where} are filled in by what is asked for.
SELECT job.key, job.id, job.version, cursor.state, cursor.next_fire_time, cursor.after,
       cursor.runs, cursor.failures, cursor.nudged, cursor.paused_through, cursor.pause,
       job.project, job.document, job.name
FROM job INDEXED BY {index} CROSS JOIN cursor ON cursor.job = job.key
WHERE {where} ORDER BY job.project, job.name, job.id LIMIT ?;

-- name: jobs_edge
-- How far a list of jobs is to look.
SELECT job.project, job.name, job.id FROM job INDEXED BY {index}
WHERE {where} ORDER BY job.project, job.name, job.id LIMIT 1 OFFSET ?;

-- name: list_jobs_by_time
-- Jobs that are to be looked at, the soonest first.
SELECT job.key, job.id, job.version, cursor.state, cursor.next_fire_time, cursor.after,
       cursor.runs, cursor.failures, cursor.nudged, cursor.paused_through, cursor.pause,
       job.project, job.document, job.name
FROM cursor INDEXED BY cursor_due CROSS JOIN job ON job.key = cursor.job
WHERE {where} ORDER BY cursor.next_fire_time, cursor.id LIMIT ?;

-- name: update_job
-- A new definition.
UPDATE job SET name = ?, folded = ?, queue = ?, app = ?, tags = ?, auto_remove = ?, version = ?,
               document = ?
WHERE key = ?;

-- name: update_policies
-- What the cursor holds of the definition.
UPDATE cursor SET version = ?, hard = ?, keep = ? WHERE job = ?;

-- name: update_cursor
-- What a change did to the cursor.
UPDATE cursor SET state = ?, next_fire_time = ?, after = ?, runs = ?, failures = ?, nudged = ?,
                  paused_through = ?, pause = ?
WHERE job = ?;

-- name: mark_deleted
-- The name of a deleted job is free.
UPDATE job SET deleted = 1 WHERE key = ?;

-- name: new_retention
-- A new retention holds for what has ended as well.
UPDATE execution SET prune_at = ended_at + iif(state = 6, ?, ?)
WHERE job = ? AND prune_at IS NOT NULL;

-- name: pending_of_job
-- What is pending of a job, by id.
SELECT key, kind, fire_time, attempt, charged + lost + returned
FROM queue WHERE job = ? ORDER BY id;

-- name: take_out
-- None of these may inherit the permit of another.
UPDATE queue SET state = 0, waits = 0 WHERE key IN (SELECT value FROM json_each(?));

-- name: ahead_of_job
-- What workers hold of a job ahead of its instant.
SELECT running.key, execution.kind, execution.fire_time, running.attempt - 1,
       running.charged + running.lost + running.returned - 1
FROM running CROSS JOIN execution ON execution.key = running.key
WHERE running.job = ? AND running.run_at > ?;

-- name: call_off
-- Ask a worker for what it holds ahead of its instant.
UPDATE running SET called_off = ?, cancel = max(cancel, ?) WHERE key = ?;

-- name: job_counts
-- How many jobs are in each state.
SELECT state, count(*) FROM cursor WHERE ? IS NULL OR project = ? GROUP BY state;
