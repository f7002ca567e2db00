-- Claims. A lane is what is queued for one ability in one queue: a worker looks only into lanes
-- that it can serve, so what it cannot run never stands in its way.

-- name: is_alive
-- Whether a worker may claim.
SELECT 1 FROM worker WHERE id = ?1 AND lost = 0;

-- name: lanes
-- The lanes of these queues that hold something: one seek each, however much they hold.
WITH RECURSIVE lane (queue, ability) AS (
    SELECT wanted.value, (SELECT min(ability) FROM queue INDEXED BY queue_claim
                          WHERE state = 2 AND queue = wanted.value)
    FROM json_each(?) AS wanted
    UNION ALL
    SELECT lane.queue, (SELECT min(ability) FROM queue INDEXED BY queue_claim
                        WHERE state = 2 AND queue = lane.queue AND ability > lane.ability)
    FROM lane WHERE lane.ability IS NOT NULL
)
SELECT queue, ability FROM lane WHERE ability IS NOT NULL;

-- name: claimable
-- What lanes have for a worker, best rank first: a JSON array of columns, and one of payloads.
-- Stepping through 500 rows costs 500 turns at Python's lock, one text costs one. A payload is JSON
-- already, and goes in as it is, separately: it may hold numbers that the quick reader cannot read.
-- {lanes}: `lane` for each of them, merged by their index. The last is the one that brings the
-- payloads to the bytes asked for.
WITH found (id, job, kind, attempt, charged, lost, returned, fire_time, run_at, version, hard,
            rank, key, own_payload) AS MATERIALIZED (
    {lanes} ORDER BY 12, 1 LIMIT ?
)
SELECT '[' || coalesce(group_concat(json_array(
    id, job, kind, attempt, charged, lost, returned, fire_time, run_at, version, hard, rank, key,
    own_payload
)), '') || ']',
'[' || coalesce(group_concat(coalesce(iif(own_payload, (
    SELECT payload FROM execution WHERE execution.key = found.key
), NULL), 'null')), '') || ']'
FROM found
-- Counted one by one only where there is too much.
WHERE (SELECT total(own_payload) FROM found) < ?
   OR (SELECT total(own_payload) FROM found AS better
       WHERE (better.rank, better.id) < (found.rank, found.id)) < ?;

-- name: lane
-- One lane of it.
SELECT queue.id, cursor.id, queue.kind, queue.attempt, queue.charged, queue.lost, queue.returned,
       queue.fire_time, queue.run_at, cursor.version, cursor.hard, queue.rank, queue.key, queue.own_payload
FROM queue INDEXED BY queue_claim CROSS JOIN cursor ON cursor.job = queue.job
WHERE queue.state = 2 AND queue.queue = ? AND queue.ability = ? AND queue.run_at <= ?
  AND (queue.expires_at IS NULL OR queue.expires_at > ?)
  AND cursor.id NOT IN (SELECT value FROM json_each(?));

-- name: best_of_lane
-- One lane of what is claimable, for those who only look.
SELECT id, queue, rank FROM queue INDEXED BY queue_claim
WHERE state = 2 AND queue = ? AND ability = ? AND run_at <= ?;

-- name: claimable_ids
-- The same among given executions, whatever lane they are in.
SELECT queue.id, cursor.id, queue.kind, queue.attempt, queue.charged, queue.lost, queue.returned,
       queue.fire_time, queue.run_at, cursor.version, cursor.hard, queue.rank, queue.key,
       queue.own_payload, iif(queue.own_payload, execution.payload, NULL), queue.queue,
       queue.ability
FROM json_each(?) AS wanted
CROSS JOIN execution ON execution.id = wanted.value
CROSS JOIN queue ON queue.key = execution.key
CROSS JOIN cursor ON cursor.job = queue.job
WHERE queue.state = 2 AND queue.run_at <= ?
  AND (queue.expires_at IS NULL OR queue.expires_at > ?)
  AND cursor.id NOT IN (SELECT value FROM json_each(?));

-- name: start
-- Hand executions over to a worker.
INSERT INTO running (key, job, attempt, charged, lost, returned, run_at, rank, expires_at, worker,
                     claim_id, deadline, holds_job, gate)
SELECT queue.key, queue.job, queue.attempt + 1, queue.charged + 1, queue.lost, queue.returned,
       queue.run_at, queue.rank, queue.expires_at, ?, ?, max(?, queue.run_at) + cursor.hard + 60000,
       queue.holds_job, iif(queue.holds_key, queue.gate, NULL)
FROM json_each(?) AS wanted
CROSS JOIN queue ON queue.key = wanted.value
CROSS JOIN cursor ON cursor.job = queue.job;

-- name: drop_claimed
-- They are pending no more.
DELETE FROM queue WHERE key IN (SELECT value FROM json_each(?));

-- name: held_claims
-- What a worker holds by a claim whose reply was lost, by id.
SELECT execution.id, cursor.id, execution.kind, running.attempt, running.charged, running.lost,
       running.returned, execution.fire_time, running.run_at, execution.payload,
       running.deadline, running.worker, running.claim_id, running.started_at,
       cursor.version
FROM running INDEXED BY running_worker
CROSS JOIN execution ON execution.key = running.key
CROSS JOIN cursor ON cursor.job = running.job
WHERE running.worker = ? AND running.claim_id = ? ORDER BY execution.id;
