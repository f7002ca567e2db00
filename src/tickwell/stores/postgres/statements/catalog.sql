-- Jobs.

-- name: known_ids
-- Which of these ids are taken, and in which project.
SELECT id::text, project FROM tickwell.job WHERE id = ANY ($1::uuid[]);

-- name: known_keys
-- Which of these dedupe keys are taken, and by whom.
SELECT job.project, job.dedupe_key, job.id::text
FROM unnest($1::text[], $2::text[]) AS wanted (project, dedupe_key)
JOIN tickwell.job ON job.project = wanted.project AND job.dedupe_key = wanted.dedupe_key;

-- name: known_names
-- Which of these names are taken.
SELECT job.project, job.name FROM unnest($1::text[], $2::text[]) AS wanted (project, name)
JOIN tickwell.job ON job.project = wanted.project AND job.name = wanted.name AND NOT job.deleted;

-- name: job_of_name
-- The job that has a name in a project.
SELECT id::text FROM tickwell.job WHERE NOT deleted AND project = $1 AND name = $2;

-- name: insert_jobs
-- New jobs; tags come as JSON, since an array of arrays cannot be ragged.
INSERT INTO tickwell.job (id, project, name, folded, queue, app, tags, auto_remove, dedupe_key,
                          version, document)
SELECT id, project, name, folded, queue, app,
       ARRAY(SELECT json_array_elements_text(tags::json)), auto_remove, dedupe_key, version,
       document
FROM unnest($1::uuid[], $2::text[], $3::text[], $4::text[], $5::text[], $6::text[], $7::text[],
            $8::text::boolean[], $9::text[], $10::text::integer[], $11::text[])
     AS new (id, project, name, folded, queue, app, tags, auto_remove, dedupe_key, version,
             document);

-- name: insert_cursors
-- Their cursors.
INSERT INTO tickwell.cursor (job, version, state, next_fire_time, after, runs, failures, nudged,
                             paused_through, pause, hard, keep, project)
SELECT * FROM unnest(
    $1::uuid[], $2::text::integer[], $3::text::smallint[], $4::text::bigint[], $5::text::bigint[],
    $6::text::bigint[], $7::text::integer[], $8::text::boolean[], $9::text::bigint[], $10::text[],
    $11::text::bigint[], $12::text::bigint[], $13::text[]);

-- name: add_jobs
-- New jobs with their cursors, unless anything of them is taken; it says whether.
WITH new AS MATERIALIZED (
    SELECT * FROM unnest(
        $1::text::uuid[], $2::text::text[], $3::text::text[], $4::text::text[], $5::text::text[],
        $6::text::text[], $7::text::text[], $8::text::boolean[], $9::text::text[],
        $10::text::integer[], string_to_array($11, E'\x1f'), $12::text::smallint[],
        $13::text::bigint[], $14::text::bigint[], $15::text::bigint[], $16::text::integer[],
        $17::text::boolean[], $18::text::bigint[], $19::text::text[], $20::text::bigint[],
        $21::text::bigint[])
    AS new (id, project, name, folded, queue, app, tags, auto_remove, dedupe_key, version, document,
            state, next_fire_time, after, runs, failures, nudged, paused_through, pause, hard, keep)
),
taken AS MATERIALIZED (
    SELECT EXISTS (SELECT FROM new JOIN tickwell.job ON job.id = new.id)
        OR EXISTS (SELECT FROM new JOIN tickwell.job ON job.project = new.project
                   AND job.name = new.name AND NOT job.deleted)
        OR EXISTS (SELECT FROM new JOIN tickwell.job ON job.project = new.project
                   AND job.dedupe_key = new.dedupe_key) AS taken
),
jobs AS (
    INSERT INTO tickwell.job (id, project, name, folded, queue, app, tags, auto_remove, dedupe_key,
                              version, document)
    SELECT id, project, name, folded, queue, app,
           ARRAY(SELECT json_array_elements_text(tags::json)), auto_remove, dedupe_key, version,
           document
    FROM new WHERE NOT (SELECT taken FROM taken)
),
cursors AS (
    INSERT INTO tickwell.cursor (job, version, state, next_fire_time, after, runs, failures, nudged,
                                 paused_through, pause, hard, keep, project)
    SELECT id, version, state, next_fire_time, after, runs, failures, nudged, paused_through, pause,
           hard, keep, project
    FROM new WHERE NOT (SELECT taken FROM taken)
)
SELECT taken FROM taken;

-- name: entries
-- Jobs with their cursors by id.
SELECT job.id::text, job.version, cursor.state, cursor.next_fire_time, cursor.after, cursor.runs,
       cursor.failures, cursor.nudged, cursor.paused_through, cursor.pause, job.project,
       job.document
FROM tickwell.job JOIN tickwell.cursor ON cursor.job = job.id WHERE job.id = ANY ($1::uuid[]);

-- name: entry
-- A job with its cursor, whose lock is held.
SELECT job.id::text, job.version, cursor.state, cursor.next_fire_time, cursor.after, cursor.runs,
       cursor.failures, cursor.nudged, cursor.paused_through, cursor.pause, job.project,
       job.document
FROM tickwell.job JOIN tickwell.cursor ON cursor.job = job.id WHERE job.id = $1;

-- name: named
-- The jobs of a project that have these names.
SELECT name, id::text FROM tickwell.job
WHERE NOT deleted AND project = $1 AND name = ANY ($2::text[]);

-- name: list_jobs
-- Jobs by project, name and id; {where} is filled in by what is asked for.
SELECT job.id::text, job.version, cursor.state, cursor.next_fire_time, cursor.after, cursor.runs,
       cursor.failures, cursor.nudged, cursor.paused_through, cursor.pause, job.project,
       job.document, job.name
FROM tickwell.job JOIN tickwell.cursor ON cursor.job = job.id
WHERE {where} ORDER BY job.project, job.name, job.id LIMIT {limit};

-- name: jobs_edge
-- How far a list of jobs is to look.
SELECT job.project, job.name, job.id::text FROM tickwell.job
WHERE {where} ORDER BY job.project, job.name, job.id OFFSET {reach} LIMIT 1;

-- name: list_jobs_by_time
-- Jobs that are to be looked at, the soonest first.
SELECT job.id::text, job.version, cursor.state, cursor.next_fire_time, cursor.after, cursor.runs,
       cursor.failures, cursor.nudged, cursor.paused_through, cursor.pause, job.project,
       job.document, job.name
FROM tickwell.cursor JOIN tickwell.job ON job.id = cursor.job
WHERE {where} ORDER BY cursor.next_fire_time, cursor.job LIMIT {limit};

-- name: update_job
-- A new definition.
UPDATE tickwell.job SET name = $1, folded = $2, queue = $3, app = $4,
                        tags = ARRAY(SELECT json_array_elements_text($5::json)), auto_remove = $6,
                        version = $7, document = $8
WHERE id = $9;

-- name: update_policies
-- What the cursor holds of the definition; a new retention holds for what has ended as well.
UPDATE tickwell.cursor SET version = $1, hard = $2, keep = $3,
                           prune_at = CASE WHEN $4 AND made > 0 THEN 0 ELSE prune_at END
WHERE job = $5;

-- name: update_cursor
-- What a change did to the cursor.
UPDATE tickwell.cursor SET state = $1, next_fire_time = $2, after = $3, runs = $4, failures = $5,
                           nudged = $6, paused_through = $7, pause = $8
WHERE job = $9;

-- name: mark_deleted
-- The name of a deleted job is free.
UPDATE tickwell.job SET deleted = true WHERE id = $1;

-- name: pending_of_job
-- What is pending of a job, by id; a claim under way ends first.
SELECT id::text, kind, fire_time, attempt, charged + lost + returned
FROM tickwell.queue WHERE job = $1 ORDER BY id FOR UPDATE;

-- name: take_out
-- None of these may inherit the permit of another.
UPDATE tickwell.queue SET state = 0, waits = 0 WHERE id = ANY ($1::uuid[]);

-- name: ahead_of_job
-- What workers hold of a job ahead of its instant.
SELECT running.id::text, execution.kind, execution.fire_time, running.attempt - 1,
       running.charged + running.lost + running.returned - 1
FROM tickwell.running JOIN tickwell.execution ON execution.id = running.id
WHERE running.job = $1 AND running.ahead AND running.run_at > $2
ORDER BY running.id FOR UPDATE OF running;

-- name: call_off
-- Ask a worker for what it holds ahead of its instant.
UPDATE tickwell.running SET called_off = $1, cancel = cancel OR $2 WHERE id = $3;

-- name: job_counts
-- How many jobs are in each state.
SELECT state, count(*) FROM tickwell.cursor
WHERE $1::text IS NULL OR project = $1 GROUP BY state;
