-- Jobs. Ids are looked up here: the tables are joined by integer keys.

-- name: known_ids
-- Which of these ids are taken, and in which project.
SELECT job.id, job.project FROM json_each(?1) AS wanted CROSS JOIN job ON job.id = wanted.value;

-- name: known_keys
-- Which of these dedupe keys are taken, and by which jobs.
SELECT job.project, job.dedupe_key, job.id FROM json_each(?1) AS wanted
CROSS JOIN job INDEXED BY job_dedupe ON job.project = json_extract(wanted.value, '$[0]')
    AND job.dedupe_key = json_extract(wanted.value, '$[1]');

-- name: known_names
-- Which of these names are taken.
SELECT job.project, job.name FROM json_each(?1) AS wanted
CROSS JOIN job INDEXED BY job_name ON job.project = json_extract(wanted.value, '$[0]')
    AND job.name = json_extract(wanted.value, '$[1]') AND job.deleted = 0;

-- name: job_of_name
-- The job that has a name in a project.
SELECT id FROM job INDEXED BY job_name WHERE deleted = 0 AND project = ?1 AND name = ?2;

-- name: job_keys
-- The keys of these jobs. As one JSON object.
SELECT json_group_object(job.id, job.key) FROM json_each(?1) AS wanted CROSS JOIN job ON job.id = wanted.value;

-- name: insert_jobs
-- New jobs.
INSERT INTO job (id, project, name, folded, queue, app, tags, auto_remove, dedupe_key, version,
                 document)
VALUES {rows};

-- name: insert_cursors
-- Their cursors.
INSERT INTO cursor (job, id, version, state, next_fire_time, after, runs, failures, nudged,
                    paused_through, pause, hard, keep, project)
SELECT job.key, new.* FROM (VALUES {rows}) AS new CROSS JOIN job ON job.id = new.column1;

-- name: entries
-- Jobs with their cursors by id.
SELECT job.id, job.version, cursor.state, cursor.next_fire_time, cursor.after,
       cursor.runs, cursor.failures, cursor.nudged, cursor.paused_through, cursor.pause,
       job.project, job.document
FROM json_each(?1) AS wanted CROSS JOIN job ON job.id = wanted.value
CROSS JOIN cursor ON cursor.job = job.key;

-- name: entry
-- A job with its cursor.
SELECT job.id, job.version, cursor.state, cursor.next_fire_time, cursor.after,
       cursor.runs, cursor.failures, cursor.nudged, cursor.paused_through, cursor.pause,
       job.project, job.document
FROM job CROSS JOIN cursor ON cursor.job = job.key WHERE job.id = ?1;

-- name: named
-- The jobs of a project that have these names.
SELECT job.name, job.id FROM json_each(?2) AS wanted CROSS JOIN job INDEXED BY job_name
    ON job.deleted = 0 AND job.project = ?1 AND job.name = wanted.value;

-- name: list_jobs
-- Jobs by project, name and id; {index}, {where} are filled in by what is asked for.
SELECT job.id, job.version, cursor.state, cursor.next_fire_time, cursor.after,
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
SELECT job.id, job.version, cursor.state, cursor.next_fire_time, cursor.after,
       cursor.runs, cursor.failures, cursor.nudged, cursor.paused_through, cursor.pause,
       job.project, job.document, job.name
FROM cursor INDEXED BY cursor_due CROSS JOIN job ON job.key = cursor.job
WHERE {where} ORDER BY cursor.next_fire_time, cursor.id LIMIT ?;

-- name: update_job
-- A new definition.
UPDATE job SET name = ?1, folded = ?2, queue = ?3, app = ?4, tags = ?5, auto_remove = ?6,
               version = ?7, document = ?8
WHERE id = ?9;

-- name: update_policies
-- What the cursor holds of the definition; a new retention holds for what has ended as well.
UPDATE cursor SET version = ?1, hard = ?2, keep = ?3,
                  prune_at = iif(?4 AND made > 0, 0, prune_at)
WHERE job = (SELECT key FROM job WHERE id = ?5);

-- name: update_cursor
-- What a change did to the cursor.
UPDATE cursor SET state = ?1, next_fire_time = ?2, after = ?3, runs = ?4, failures = ?5,
                  nudged = ?6, paused_through = ?7, pause = ?8
WHERE job = (SELECT key FROM job WHERE id = ?9);

-- name: mark_deleted
-- The name of a deleted job is free.
UPDATE job SET deleted = 1 WHERE id = ?1;

-- name: pending_of_job
-- What is pending of a job, by id.
SELECT id, kind, fire_time, attempt, charged + lost + returned
FROM queue WHERE job = (SELECT key FROM job WHERE id = ?1) ORDER BY id;

-- name: take_out
-- None of these may inherit the permit of another.
UPDATE queue SET state = 0, waits = 0 WHERE key IN (
    SELECT execution.key FROM json_each(?1) AS wanted
    CROSS JOIN execution ON execution.id = wanted.value
);

-- name: ahead_of_job
-- What workers hold of a job ahead of its instant.
SELECT execution.id, execution.kind, execution.fire_time, running.attempt - 1,
       running.charged + running.lost + running.returned - 1
FROM running CROSS JOIN execution ON execution.key = running.key
WHERE running.job = (SELECT key FROM job WHERE id = ?1) AND running.run_at > ?2;

-- name: call_off
-- Ask a worker for what it holds ahead of its instant.
UPDATE running SET called_off = ?1, cancel = max(cancel, ?2)
WHERE key = (SELECT key FROM execution WHERE id = ?3);

-- name: job_counts
-- How many jobs are in each state.
SELECT state, count(*) FROM cursor WHERE ?1 IS NULL OR project = ?1 GROUP BY state;
