-- The ends of attempts.

-- name: standing_reports
-- Which of these reports stand, fenced by the rows of `running`, which are locked. Unless the
-- caller holds their jobs: only those that hold no permit, were not called off, and whose
-- definition is the one that the report was made by. The others come later, one by one.
SELECT running.id
FROM ROWS($2, id ID, attempt INT, version INT) AS report
STRAIGHT_JOIN tickwell_running AS running FORCE INDEX (PRIMARY)
  ON running.id = report.id AND running.attempt = report.attempt
WHERE $1 OR (running.gate IS NULL AND NOT running.holds_job AND NOT running.called_off
             AND report.version = (SELECT head.version FROM tickwell_cursor AS head
                                   WHERE head.job = running.job))
FOR UPDATE;

-- name: finish
-- End executions with their last attempts; the rows of `running` are locked.
UPDATE ROWS($1, id ID, attempt INT, version INT, state INT, outcome INT, reason TEXT, charged INT,
            lost INT, returned INT, started_at INT, ended_at INT, error TEXT, result TEXT) AS report
STRAIGHT_JOIN tickwell_running AS running FORCE INDEX (PRIMARY) ON running.id = report.id
STRAIGHT_JOIN tickwell_execution AS execution FORCE INDEX (PRIMARY) ON execution.id = report.id
SET execution.state = report.state, execution.rare = NULLIF(report.state, 5),
    execution.outcome = report.outcome, execution.reason = report.reason,
    execution.attempt = report.attempt, execution.charged = report.charged,
    execution.lost = report.lost, execution.returned = report.returned,
    execution.worker = running.worker, execution.started_at = report.started_at,
    execution.ended_at = report.ended_at, execution.error = report.error,
    execution.result = report.result;
DELETE running FROM ROWS($2, id ID) AS ended
STRAIGHT_JOIN tickwell_running AS running FORCE INDEX (PRIMARY) ON running.id = ended.id;

-- name: running_rows
-- The running executions among these, with what their end depends on.
SELECT running.id, running.job, running.attempt, running.worker, running.holds_job, running.gate,
       running.cancel, running.called_off, running.run_at, running.rank, execution.kind,
       execution.job_version, execution.fire_time, execution.overlap, execution.queue,
       execution.ability, execution.gate, execution.gate_limit, execution.payload IS NOT NULL,
       running.expires_at, execution.reason
FROM ROWS($1, id ID) AS wanted
STRAIGHT_JOIN tickwell_running AS running FORCE INDEX (PRIMARY) ON running.id = wanted.id
STRAIGHT_JOIN tickwell_execution AS execution FORCE INDEX (PRIMARY) ON execution.id = wanted.id
FOR UPDATE;

-- name: stop
-- They are running no more.
DELETE running FROM ROWS($1, id ID) AS ended
STRAIGHT_JOIN tickwell_running AS running FORCE INDEX (PRIMARY) ON running.id = ended.id;

-- name: pass_job_on
-- Give the gates of these jobs to the best of those before them, or to nobody.
UPDATE tickwell_cursor AS head FORCE INDEX (PRIMARY) SET head.holder = (
    SELECT queue.id FROM tickwell_queue AS queue FORCE INDEX (queue_job)
    WHERE queue.job = head.job AND queue.waits = 1 ORDER BY queue.rank, queue.id LIMIT 1
)
WHERE head.job IN $1[];
SELECT job, holder FROM tickwell_cursor WHERE job IN $1[];

-- name: queue_holders
-- Those that were given their job's gate and pass no other are queued.
UPDATE tickwell_queue FORCE INDEX (PRIMARY) SET state = 2, waits = 0, holds_job = TRUE
WHERE id IN $1[] AND gate IS NULL;

-- name: keyed_holders
-- Those that were given their job's gate and stand before another one now.
SELECT job, `rank`, id, gate, gate_limit FROM tickwell_queue
WHERE id IN $1[] AND gate IS NOT NULL;

-- name: best_before_gates
-- The best of those before a concurrency gate, so many of them.
SELECT `rank`, id, gate, gate_limit FROM tickwell_queue FORCE INDEX (queue_gate)
WHERE waits = 2 AND gate = $1 ORDER BY `rank`, id LIMIT $2;

-- name: move_keyed
-- Where executions before concurrency gates stand now; those with their jobs' gates keep them.
UPDATE ROWS($1, state INT, waits INT, holds_key INT, holds_job INT, id ID) AS moved
STRAIGHT_JOIN tickwell_queue AS queue FORCE INDEX (PRIMARY) ON queue.id = moved.id
SET queue.state = moved.state, queue.waits = moved.waits, queue.holds_key = moved.holds_key,
    queue.holds_job = queue.holds_job OR moved.holds_job;

-- name: gates_behind
-- The concurrency gates that the best of those before the gates of these jobs passes next.
SELECT best.gate FROM (
    SELECT (SELECT queue.gate FROM tickwell_queue AS queue FORCE INDEX (queue_job)
            WHERE queue.job = wanted.job AND queue.waits = 1
            ORDER BY queue.rank, queue.id LIMIT 1) AS gate
    FROM ROWS($1, job ID) AS wanted
) AS best
WHERE best.gate IS NOT NULL;

-- name: drop_put_off
-- Attempts that were put off before ones that are put off as well: 4 is released.
DELETE attempt FROM ROWS($1, execution ID, number INT) AS gone
STRAIGHT_JOIN tickwell_attempt AS attempt FORCE INDEX (PRIMARY)
    ON attempt.execution = gone.execution AND attempt.number = gone.number
WHERE attempt.outcome = 4 AND attempt.started_at IS NULL;

-- name: insert_attempts
-- Attempts that another one follows.
INSERT INTO tickwell_attempt (execution, number, outcome, worker, started_at, ended_at, error,
                              result)
SELECT execution, number, outcome, worker, started_at, ended_at, error, result
FROM ROWS($1, execution ID, number INT, outcome INT, worker NAME, started_at INT, ended_at INT,
          error TEXT, result TEXT) AS new;

-- name: go_on
-- Executions that are tried again.
UPDATE ROWS($1, attempt INT, charged INT, lost INT, returned INT, started_at INT, error TEXT,
            result TEXT, run_at INT, id ID) AS again
STRAIGHT_JOIN tickwell_execution AS execution FORCE INDEX (PRIMARY) ON execution.id = again.id
SET execution.attempt = again.attempt, execution.charged = again.charged,
    execution.lost = again.lost, execution.returned = again.returned,
    execution.started_at = again.started_at, execution.error = again.error,
    execution.result = again.result, execution.run_at = again.run_at;

-- name: insert_again
-- Put executions back into the queue.
INSERT INTO tickwell_queue (id, job, state, queue, ability, kind, fire_time, run_at, `rank`,
                            look_at, expires_at, overlap, gate, gate_limit, holds_job, attempt,
                            charged, lost, returned, own_payload)
SELECT id, job, state, queue, ability, kind, fire_time, run_at, new.rank, look_at, expires_at,
       overlap, gate, gate_limit, holds_job, attempt, charged, lost, returned, own_payload
FROM ROWS($1, id ID, job ID, state INT, queue NAME, ability NAME, kind INT, fire_time INT,
          run_at INT, `rank` INT, look_at INT, expires_at INT, overlap INT, gate NAME,
          gate_limit INT, holds_job INT, attempt INT, charged INT, lost INT, returned INT,
          own_payload INT) AS new;

-- name: set_failures
-- Dead executions in a row.
UPDATE ROWS($1, failures INT, job ID) AS counted
STRAIGHT_JOIN tickwell_cursor AS head FORCE INDEX (PRIMARY) ON head.job = counted.job
SET head.failures = counted.failures;

-- name: was_applied
-- Which of these attempts are on record with this end.
SELECT report.place
FROM ROWS($1, place INT, id ID, attempt INT, ended_at INT, outcome INT) AS report
STRAIGHT_JOIN tickwell_execution AS execution FORCE INDEX (PRIMARY) ON execution.id = report.id
LEFT JOIN tickwell_attempt AS attempt
    ON attempt.execution = report.id AND attempt.number = report.attempt
WHERE (attempt.ended_at = report.ended_at AND attempt.outcome = report.outcome)
   OR (execution.outcome = report.outcome AND execution.attempt = report.attempt
       AND execution.ended_at = report.ended_at);

-- name: failures_of
-- Dead executions in a row of jobs.
SELECT job, failures FROM tickwell_cursor WHERE job IN $1[];
