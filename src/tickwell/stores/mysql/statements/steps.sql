-- What executions have done, kept from one attempt to the next.

-- name: write_steps
-- Write steps of attempts that are under way; which executions and attempts these are. Until the
-- commit none of them ends: its end would delete a row of `running` that is locked here.
SELECT running.id
FROM ROWS($1, execution ID, attempt INT) AS new
STRAIGHT_JOIN tickwell_running AS running FORCE INDEX (PRIMARY)
  ON running.id = new.execution AND running.attempt = new.attempt
LOCK IN SHARE MODE;
INSERT INTO tickwell_step (execution, name, attempt, written_at, is_final, document)
SELECT new.execution, new.name, new.attempt, new.written_at, new.is_final, new.document
FROM ROWS($1, execution ID, attempt INT, name NAME, written_at INT, is_final INT, document TEXT)
     AS new
STRAIGHT_JOIN tickwell_running AS running FORCE INDEX (PRIMARY)
  ON running.id = new.execution AND running.attempt = new.attempt
ON DUPLICATE KEY UPDATE
    attempt = IF(tickwell_step.is_final, tickwell_step.attempt, new.attempt),
    written_at = IF(tickwell_step.is_final, tickwell_step.written_at, new.written_at),
    document = IF(tickwell_step.is_final, tickwell_step.document, new.document),
    is_final = tickwell_step.is_final OR new.is_final;
SELECT DISTINCT running.id, running.attempt
FROM ROWS($1, execution ID, attempt INT) AS new
STRAIGHT_JOIN tickwell_running AS running FORCE INDEX (PRIMARY)
  ON running.id = new.execution AND running.attempt = new.attempt;

-- name: list_steps
-- The steps of an execution.
SELECT step.attempt, step.name, step.written_at, step.is_final, step.document
FROM tickwell_step AS step WHERE step.execution = $1
  AND EXISTS (SELECT 1 FROM tickwell_execution AS execution
              WHERE execution.id = $1 AND execution.project = $2);

-- name: open_step
-- A step that is not final: the attempt that wrote it, and how that ended.
SELECT attempt, (
    SELECT outcome FROM tickwell_attempt AS ended
    WHERE ended.execution = tickwell_step.execution AND ended.number = tickwell_step.attempt
)
FROM tickwell_step
WHERE execution = $1 AND name = $2 AND NOT is_final FOR UPDATE;

-- name: end_step
-- It is final from now on.
UPDATE tickwell_step SET is_final = TRUE, written_at = $1, document = $2
WHERE execution = $3 AND name = $4;

-- name: final_steps
-- The executions of these steps, as far as they are final.
SELECT step.execution FROM ROWS($1, execution ID, name NAME) AS asked
STRAIGHT_JOIN tickwell_step AS step FORCE INDEX (PRIMARY)
  ON step.execution = asked.execution AND step.name = asked.name
WHERE step.is_final;
