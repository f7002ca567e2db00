-- Codes as stores/sql/codec.py has them, and the positions of fields in packed rows. What is absent
-- is false: a nil would end a list.
local WAITING, BLOCKED, QUEUED, RUNNING, PARKED, SUCCEEDED, DEAD, CANCELLED, SKIPPED =
  0, 1, 2, 3, 4, 5, 6, 7, 8
local ACTIVE, PAUSED, FINISHED, DELETED = 0, 1, 2, 3
local FIRE = 0
local SKIP, QUEUE_ONE, QUEUE_ALL, CANCEL_RUNNING, ALLOW = 0, 1, 2, 3, 4
local JOB_GATE, KEY_GATE = 1, 2
local NEVER, HEAD_START, MINUTE, DAY = 253402300799999, 10000, 60000, 86400000
-- As domain/rate.py has it.
local CLOCKS_APART = 10000
local KEPT_VERSIONS = 100
-- An execution, under its id in the hash "x".
local PROJECT, JOB, VERSION, KIND, STATE, FIRE_TIME, RUN_AT, QUEUE, ABILITY, CREATED, PAYLOAD, KEY,
  ATTEMPT, CHARGED, LOST, RETURNED, REASON, WORKER, DEADLINE, CANCEL, STARTED, ENDED, ERROR, RESULT,
  REVIVED = 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24,
  25
-- What the queue knows of it. DEFINITION is the version that its next attempt runs by.
local RANK, OVERLAP, GATE, LIMIT, LOOK_AT, EXPIRES, WAITS, HOLDS_JOB, HOLDS_KEY, CLAIM, CALLED_OFF,
  DEFINITION, HARD, ATTEMPTS = 26, 27, 28, 29, 30, 31, 32, 33, 34, 35, 36, 37, 38, 39
-- Where in an execution stands what it has in common with the same runs of its job, and where in a
-- new one its rule; others end before it. Fields of the rule. In one table, see `permits`.
local same = {
  UNIQUE = 40, RULE = 18, NAME = 1, PENDING = 2, RUNNING = 3, WITHIN = 4, DEBOUNCED = 5, MOST = 6,
}
-- An attempt in ATTEMPTS: number, outcome, worker, start, end, error, and its result.
local A_RESULT = 7
-- A job, under its id in the hash "cursor". J_MOVES counts writes: whoever read it compares that.
local J_MOVES, J_STATE, J_NEXT, J_AFTER, J_RUNS, J_FAILURES, J_NUDGED, J_THROUGH, J_PAUSE =
  1, 2, 3, 4, 5, 6, 7, 8, 9
local J_VERSION, J_PROJECT, J_NAME, J_PRIORITY, J_QUEUE, J_ABILITY, J_HARD, J_MAX_RUNS, J_FOLLOWS,
  J_REMOVE, J_AGE, J_COUNT, J_DEAD, J_SAVED = 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23
