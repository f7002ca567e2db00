-- What executions have done, kept from one attempt to the next.

-- name: write_steps
-- Write steps of attempts that are under way; which executions and attempts these are. Until the
-- commit none of them ends: its end would delete a row of `running` that is locked here.
WITH under_way AS MATERIALIZED (
    SELECT given.* FROM unnest($1::text::uuid[], $2::integer[], $3::text[], $4::bigint[],
                               $5::boolean[], $6::text[])
           AS given (execution, attempt, name, written_at, is_final, document)
    JOIN tickwell.running ON running.id = ANY (ARRAY[given.execution])
                         AND running.attempt = given.attempt
    FOR KEY SHARE OF running
),
written AS (
    INSERT INTO tickwell.step AS known (execution, name, attempt, written_at, is_final, document)
    SELECT execution, name, attempt, written_at, is_final, document FROM under_way
    ON CONFLICT (execution, name) DO UPDATE SET
        attempt = excluded.attempt, written_at = excluded.written_at,
        is_final = excluded.is_final, document = excluded.document
    WHERE NOT known.is_final
)
SELECT DISTINCT execution::text, attempt FROM under_way;

-- name: list_steps
-- The steps of an execution.
SELECT step.attempt, step.name, step.written_at, step.is_final, step.document
FROM tickwell.step WHERE step.execution = $1
  AND EXISTS (SELECT 1 FROM tickwell.execution WHERE id = $1 AND project = $2);

-- name: open_step
-- A step that is not final: the attempt that wrote it, and how that ended.
SELECT attempt, (
    SELECT outcome FROM tickwell.attempt AS ended
    WHERE ended.execution = step.execution AND ended.number = step.attempt
)
FROM tickwell.step
WHERE execution = $1 AND name = $2 AND NOT is_final FOR UPDATE;

-- name: end_step
-- It is final from now on.
UPDATE tickwell.step SET is_final = TRUE, written_at = $1, document = $2
WHERE execution = $3 AND name = $4;

-- name: final_steps
-- The executions of these steps, as far as they are final.
SELECT step.execution::text FROM unnest($1::uuid[], $2::text[]) AS asked (execution, name)
JOIN tickwell.step ON step.execution = ANY (ARRAY[asked.execution]) AND step.name = asked.name
WHERE step.is_final;
