-- Claims. Rows that are locked by their ids are joined to a list of them, here and in the other
-- files: for `id IN (...)` the server walks over a table of a few rows from end to end, and takes
-- or waits for rows that others have locked. A lane is what is queued for one ability in one
-- queue: a worker looks only into lanes that it can serve.

-- name: lanes
-- The lanes of these queues that hold something: one step of the index for each.
SELECT DISTINCT queue, ability FROM tickwell_queue FORCE INDEX (queue_claim)
WHERE state = 2 AND queue IN $1[];

-- name: pick_lane
-- The best of one lane. Rows that somebody else is taking are passed over, never waited for.
-- What is known of jobs, and how large payloads are, is read beside the lock.
SELECT queue.id, queue.job, queue.kind, queue.attempt, queue.charged, queue.lost, queue.returned,
       queue.fire_time, queue.run_at,
       (SELECT head.version FROM tickwell_cursor AS head WHERE head.job = queue.job),
       (SELECT head.hard FROM tickwell_cursor AS head WHERE head.job = queue.job),
       IF(queue.own_payload, (SELECT LENGTH(execution.payload) FROM tickwell_execution AS execution
                              WHERE execution.id = queue.id), 0),
       queue.rank
FROM tickwell_queue AS queue FORCE INDEX (queue_claim)
WHERE queue.state = 2 AND queue.queue = $4 AND queue.ability = $5 AND queue.run_at <= $6
  AND queue.job NOT IN $7[] AND (queue.expires_at IS NULL OR queue.expires_at > $2)
  AND EXISTS (SELECT 1 FROM tickwell_worker AS worker WHERE worker.id = $1 AND NOT worker.lost)
ORDER BY queue.rank, queue.id LIMIT $3 FOR UPDATE SKIP LOCKED;

-- name: pick_ids
-- The same among given executions, whatever lane they are in.
SELECT queue.id, queue.job, queue.kind, queue.attempt, queue.charged, queue.lost, queue.returned,
       queue.fire_time, queue.run_at,
       (SELECT head.version FROM tickwell_cursor AS head WHERE head.job = queue.job),
       (SELECT head.hard FROM tickwell_cursor AS head WHERE head.job = queue.job),
       IF(queue.own_payload, (SELECT LENGTH(execution.payload) FROM tickwell_execution AS execution
                              WHERE execution.id = queue.id), 0)
FROM ROWS($4, id ID) AS wanted
STRAIGHT_JOIN tickwell_queue AS queue FORCE INDEX (PRIMARY) ON queue.id = wanted.id
WHERE queue.state = 2 AND queue.queue IN $5[] AND queue.ability IN $6[]
  AND queue.run_at <= $7 AND queue.job NOT IN $8[]
  AND (queue.expires_at IS NULL OR queue.expires_at > $2)
  AND EXISTS (SELECT 1 FROM tickwell_worker AS worker WHERE worker.id = $1 AND NOT worker.lost)
ORDER BY queue.rank, queue.id LIMIT $3 FOR UPDATE SKIP LOCKED;

-- name: start
-- From the queue to running; the rows are locked. The payloads of those that bring their own.
INSERT INTO tickwell_running (id, job, attempt, charged, lost, returned, run_at, `rank`, expires_at,
                              worker, claim_id, deadline, holds_job, gate)
SELECT queue.id, queue.job, queue.attempt + 1, queue.charged + 1, queue.lost, queue.returned,
       queue.run_at, queue.rank, queue.expires_at, $2, $3,
       GREATEST($4, queue.run_at) + head.hard + 60000, queue.holds_job,
       IF(queue.holds_key, queue.gate, NULL)
FROM ROWS($1, id ID) AS picked
STRAIGHT_JOIN tickwell_queue AS queue FORCE INDEX (PRIMARY) ON queue.id = picked.id
STRAIGHT_JOIN tickwell_cursor AS head FORCE INDEX (PRIMARY) ON head.job = queue.job;
DELETE queue FROM ROWS($1, id ID) AS picked
STRAIGHT_JOIN tickwell_queue AS queue FORCE INDEX (PRIMARY) ON queue.id = picked.id;
SELECT id, payload FROM tickwell_execution FORCE INDEX (PRIMARY) WHERE id IN $5[];

-- name: best_of_lane
-- The best of one lane, to be merged with others; a step of the index for each lane, which the
-- server takes for values only, not for what it finds in another table.
(SELECT `rank`, id, {number} FROM tickwell_queue FORCE INDEX (queue_claim)
 WHERE state = 2 AND queue = {queue} AND ability = {ability} AND run_at <= $1
   AND (expires_at IS NULL OR expires_at > $2) AND job NOT IN $4[]
 ORDER BY `rank`, id LIMIT $3);

-- name: held_claims
-- What a worker holds by a claim whose reply was lost, by id; a worker that is lost holds nothing.
SELECT execution.id, running.job, execution.kind, running.attempt, running.charged, running.lost,
       running.returned, execution.fire_time, running.run_at, execution.payload, running.deadline,
       running.worker, running.claim_id, running.started_at,
       head.version
FROM tickwell_running AS running FORCE INDEX (running_worker)
STRAIGHT_JOIN tickwell_execution AS execution FORCE INDEX (PRIMARY) ON execution.id = running.id
STRAIGHT_JOIN tickwell_cursor AS head FORCE INDEX (PRIMARY) ON head.job = running.job
STRAIGHT_JOIN tickwell_worker AS worker ON worker.id = running.worker AND NOT worker.lost
WHERE running.worker = $1 AND running.claim_id = $2 ORDER BY execution.id;
