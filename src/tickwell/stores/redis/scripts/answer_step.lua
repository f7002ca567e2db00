-- needs: words json rows indexes flow
-- ARGV: now, project, id, name, value. Makes a step final; answers whether there was one that was
-- not. Its execution goes on if it waits for it: one that failed waits for its retry.
local SNOOZED_OUTCOME = 5
local now, id, key = tonumber(ARGV[2]), ARGV[4], P .. 'steps:' .. ARGV[4]
local row, known = row_of(id), redis.call('HGET', key, ARGV[5])
if not row or row[PROJECT] ~= ARGV[3] or row[STATE] > PARKED then
  return 0
end
if not known or string.sub(known, 1, 1) == '1' then
  return 0
end
local attempt, ended = string.match(known, '^0%[(%d+),'), row[ATTEMPTS] or {}
local is_snoozed = #ended > 0 and ended[#ended][2] == SNOOZED_OUTCOME
redis.call('HSET', key, ARGV[5], string.format('1[%s,%d,', attempt, now) .. ARGV[6] .. ']')
if row[STATE] == WAITING and row[ATTEMPT] == tonumber(attempt) and is_snoozed
  and now < row[RUN_AT] and row[RUN_AT] < NEVER then
  lift(id, row)
  row[RUN_AT], row[LOOK_AT] = now, now
  row[RANK] = now - entry_of(row[JOB])[J_PRIORITY] * HEAD_START
  admit(id, row, now, 0)
end
flush()
return 1
