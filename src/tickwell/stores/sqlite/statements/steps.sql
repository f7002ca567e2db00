-- What executions have done, kept from one attempt to the next.

-- name: write_steps
-- Write a step of an attempt that is under way; its execution and attempt.
INSERT INTO step (execution, name, attempt, written_at, is_final, document)
SELECT running.key, ?3, running.attempt, ?4, ?5, ?6
FROM execution CROSS JOIN running ON running.key = execution.key AND running.attempt = ?2
WHERE execution.id = ?1
ON CONFLICT (execution, name) DO UPDATE SET
    attempt = iif(is_final, attempt, excluded.attempt),
    written_at = iif(is_final, written_at, excluded.written_at),
    is_final = is_final OR excluded.is_final,
    document = iif(is_final, document, excluded.document)
RETURNING ?1, ?2;

-- name: list_steps
-- The steps of an execution.
SELECT step.attempt, step.name, step.written_at, step.is_final, step.document
FROM execution CROSS JOIN step ON step.execution = execution.key
WHERE execution.id = ?1 AND execution.project = ?2;

-- name: open_step
-- A step that is not final: the attempt that wrote it, and how that ended.
SELECT step.attempt, (
    SELECT ended.outcome FROM attempt AS ended
    WHERE ended.execution = step.execution AND ended.number = step.attempt
)
FROM execution CROSS JOIN step ON step.execution = execution.key
WHERE execution.id = ?1 AND step.name = ?2 AND NOT step.is_final;

-- name: end_step
-- It is final from now on.
UPDATE step SET is_final = 1, written_at = ?1, document = ?2
WHERE execution = (SELECT key FROM execution WHERE id = ?3) AND name = ?4;

-- name: final_steps
-- The execution of a step, if that is final.
SELECT ?1 FROM execution CROSS JOIN step ON step.execution = execution.key
WHERE execution.id = ?1 AND step.name = ?2 AND step.is_final;
