-- Requests for the same run.

-- name: same_live
-- Runs with a name that were live when last looked at.
-- Each with whether it is pending, running, or untried.
SELECT same.requested_at, execution.id, queue.key IS NOT NULL, running.key IS NOT NULL,
       coalesce(queue.charged + queue.lost + queue.returned = 0, 0)
FROM job CROSS JOIN unique_run AS same INDEXED BY unique_run_live
    ON same.job = job.key AND same.name = ?2 AND same.ended = 0
CROSS JOIN execution ON execution.key = same.execution
LEFT JOIN queue ON queue.key = same.execution
LEFT JOIN running ON running.key = same.execution
WHERE job.id = ?1;

-- name: same_newest
-- The newest of those that were requested later than an instant.
SELECT same.requested_at, execution.id
FROM unique_run AS same INDEXED BY unique_run_newest
CROSS JOIN execution ON execution.key = same.execution
WHERE same.job = (SELECT key FROM job WHERE id = ?1) AND same.name = ?2 AND same.requested_at > ?3
ORDER BY same.requested_at DESC LIMIT 1;

-- name: note_ended
-- They have ended: nobody looks at them again unless they are revived.
UPDATE unique_run SET ended = 1 WHERE execution IN (
    SELECT execution.key FROM json_each(?1) AS gone
    CROSS JOIN execution ON execution.id = gone.value
);

-- name: note_revived
-- They are looked at again.
UPDATE unique_run SET ended = 0 WHERE execution IN (
    SELECT execution.key FROM json_each(?1) AS back
    CROSS JOIN execution ON execution.id = back.value
);

-- name: add_unique
-- A run that later requests may find.
INSERT INTO unique_run (execution, job, name, requested_at)
VALUES ((SELECT key FROM execution WHERE id = ?1), (SELECT key FROM job WHERE id = ?2), ?3, ?4)
ON CONFLICT (execution) DO NOTHING;

-- name: load_gate
-- Which gate a pending execution passes, and what its job's gate is to it.
SELECT gate, overlap FROM queue WHERE key = (SELECT key FROM execution WHERE id = ?1);

-- name: replace_execution
-- What a later request for the same run asks for.
UPDATE execution SET payload = ?1, run_at = ?2, gate = ?3, gate_limit = ?4, overlap = ?5
WHERE id = ?6;
