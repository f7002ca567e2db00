-- Jobs.

-- name: known_ids
-- Which of these ids are taken, and in which project.
SELECT id, project FROM tickwell_job WHERE id IN $1[];

-- name: known_keys
-- Which of these dedupe keys are taken, and by whom.
SELECT job.project, job.dedupe_key, job.id
FROM ROWS($1, project NAME, dedupe_key NAME) AS wanted STRAIGHT_JOIN tickwell_job AS job
  ON job.project = wanted.project AND job.dedupe_key = wanted.dedupe_key;

-- name: known_names
-- Which of these names are taken.
SELECT job.project, job.name
FROM ROWS($1, project NAME, name NAME) AS wanted STRAIGHT_JOIN tickwell_job AS job
  ON job.project = wanted.project AND job.live_name = wanted.name;

-- name: job_of_name
-- The job that has a name in a project.
SELECT id FROM tickwell_job WHERE project = $1 AND live_name = $2;

-- name: insert_jobs
-- New jobs.
INSERT INTO tickwell_job (id, project, name, live_name, folded, queue, app, tags, auto_remove,
                          dedupe_key, version, document)
SELECT id, project, name, name, folded, queue, app, tags, auto_remove, dedupe_key, version, document
FROM ROWS($1, id ID, project NAME, name NAME, folded NAME, queue NAME, app NAME, tags TEXT,
          auto_remove INT, dedupe_key NAME, version INT, document TEXT) AS new;

-- name: insert_cursors
-- Their cursors.
INSERT INTO tickwell_cursor (job, version, state, next_fire_time, after, runs, failures, nudged,
                             paused_through, pause, hard, keep, project)
SELECT job, version, state, next_fire_time, after, runs, failures, nudged, paused_through, pause,
       hard, keep, project
FROM ROWS($1, job ID, version INT, state INT, next_fire_time INT, after INT, runs INT, failures INT,
          nudged INT, paused_through INT, pause TEXT, hard INT, keep INT, project NAME) AS new;

-- name: entries
-- Jobs with their cursors by id.
SELECT job.id, job.version, head.state, head.next_fire_time, head.after, head.runs, head.failures,
       head.nudged, head.paused_through, head.pause, job.project, job.document
FROM tickwell_job AS job JOIN tickwell_cursor AS head ON head.job = job.id WHERE job.id IN $1[];

-- name: entry
-- A job with its cursor, whose lock is held.
SELECT job.id, job.version, head.state, head.next_fire_time, head.after, head.runs, head.failures,
       head.nudged, head.paused_through, head.pause, job.project, job.document
FROM tickwell_job AS job JOIN tickwell_cursor AS head ON head.job = job.id WHERE job.id = $1;

-- name: named
-- The jobs of a project that have these names.
SELECT name, id FROM tickwell_job WHERE project = $1 AND live_name IN $2[];

-- name: list_jobs
-- Jobs by project, name and id; {where} is filled in by what is asked for.
SELECT job.id, job.version, head.state, head.next_fire_time, head.after, head.runs, head.failures,
       head.nudged, head.paused_through, head.pause, job.project, job.document, job.name
FROM tickwell_job AS job {index} STRAIGHT_JOIN tickwell_cursor AS head ON head.job = job.id
WHERE {where} ORDER BY job.project, job.name, job.id LIMIT {limit};

-- name: jobs_edge
-- How far a list of jobs is to look.
SELECT job.project, job.name, job.id FROM tickwell_job AS job {index}
WHERE {where} ORDER BY job.project, job.name, job.id LIMIT 1 OFFSET {reach};

-- name: list_jobs_by_time
-- Jobs that are to be looked at, the soonest first.
SELECT job.id, job.version, head.state, head.next_fire_time, head.after, head.runs, head.failures,
       head.nudged, head.paused_through, head.pause, job.project, job.document, job.name
FROM tickwell_cursor AS head FORCE INDEX (cursor_due)
STRAIGHT_JOIN tickwell_job AS job ON job.id = head.job
WHERE {where} ORDER BY head.next_fire_time, head.job LIMIT {limit};

-- name: update_job
-- A new definition.
UPDATE tickwell_job SET name = $1, live_name = IF(live_name IS NULL, NULL, $1), folded = $2,
                        queue = $3, app = $4, tags = $5, auto_remove = $6, version = $7,
                        document = $8
WHERE id = $9;

-- name: update_policies
-- What the cursor holds of the definition; a new retention holds for what has ended as well.
UPDATE tickwell_cursor SET version = $1, hard = $2, keep = $3,
                           prune_at = CASE WHEN $4 AND made > 0 THEN 0 ELSE prune_at END
WHERE job = $5;

-- name: update_cursor
-- What a change did to the cursor.
UPDATE tickwell_cursor SET state = $1, next_fire_time = $2, after = $3, runs = $4, failures = $5,
                           nudged = $6, paused_through = $7, pause = $8
WHERE job = $9;

-- name: mark_deleted
-- The name of a deleted job is free.
UPDATE tickwell_job SET live_name = NULL WHERE id = $1;

-- name: pending_of_job
-- What is pending of a job, by id; a claim under way ends first.
SELECT id, kind, fire_time, attempt, charged + lost + returned
FROM tickwell_queue FORCE INDEX (queue_job)
WHERE job = $1 ORDER BY id FOR UPDATE;

-- name: take_out
-- None of these may inherit the permit of another.
UPDATE tickwell_queue FORCE INDEX (PRIMARY) SET state = 0, waits = 0 WHERE id IN $1[];

-- name: ahead_of_job
-- What workers hold of a job ahead of its instant. What is known of the execution never changes
-- under the lock of its job, and is not locked.
SELECT running.id, (SELECT kind FROM tickwell_execution AS one WHERE one.id = running.id),
       (SELECT fire_time FROM tickwell_execution AS one WHERE one.id = running.id),
       running.attempt - 1, running.charged + running.lost + running.returned - 1
FROM tickwell_running AS running FORCE INDEX (running_job)
WHERE running.job = $1 AND running.run_at > $2 ORDER BY running.id FOR UPDATE;

-- name: call_off
-- Ask a worker for what it holds ahead of its instant.
UPDATE tickwell_running SET called_off = $1, cancel = cancel OR $2 WHERE id = $3;

-- name: job_counts
-- How many jobs are in each state.
SELECT state, COUNT(*) FROM tickwell_cursor WHERE $1 IS NULL OR project = $1 GROUP BY state;
