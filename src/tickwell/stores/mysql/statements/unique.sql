-- Requests for the same run. All of it under the lock of the job.

-- name: same_live
-- Runs with a name that were live when last looked at: whether they are pending, were not tried,
-- or are running now.
SELECT same.requested_at, same.execution, queue.id IS NOT NULL, running.id IS NOT NULL,
       COALESCE(queue.charged + queue.lost + queue.returned = 0, FALSE)
FROM tickwell_unique_run AS same FORCE INDEX (unique_run_live)
LEFT JOIN tickwell_queue AS queue ON queue.id = same.execution
LEFT JOIN tickwell_running AS running ON running.id = same.execution
WHERE same.job = $1 AND same.name = $2 AND same.ended = FALSE;

-- name: same_newest
-- The newest of those that were requested later than an instant.
SELECT requested_at, execution FROM tickwell_unique_run FORCE INDEX (unique_run_newest)
WHERE job = $1 AND name = $2 AND requested_at > $3 ORDER BY requested_at DESC, execution DESC LIMIT 1;

-- name: note_ended
-- They have ended: nobody looks at them again unless they are revived.
UPDATE tickwell_unique_run FORCE INDEX (PRIMARY) SET ended = TRUE WHERE execution IN $1[];

-- name: note_revived
-- They are looked at again.
UPDATE tickwell_unique_run FORCE INDEX (PRIMARY) SET ended = FALSE WHERE execution IN $1[];

-- name: add_unique
-- A run that later requests may find.
INSERT INTO tickwell_unique_run (execution, job, name, requested_at) VALUES ($1, $2, $3, $4)
ON DUPLICATE KEY UPDATE execution = execution;

-- name: load_gate
-- Which gate a pending execution passes, and what its job's gate is to it.
SELECT gate, overlap FROM tickwell_queue WHERE id = $1;

-- name: replace_execution
-- What a later request for the same run asks for.
UPDATE tickwell_execution SET payload = $1, run_at = $2, gate = $3, gate_limit = $4, overlap = $5
WHERE id = $6;
