-- flags: no-writes
-- needs: words json rows lanes
-- ARGV: now. Where all that is queued is of one project, its lanes are counted without being read.
-- Answers of each lane project, queue, state, how many executions, and how many are due; null where
-- several projects have some.
local now, owner = tonumber(ARGV[2]), nil
for _, project in ipairs(redis.call('SMEMBERS', P .. 'projects')) do
  if redis.call('EXISTS', P .. 'state:' .. QUEUED .. ':' .. project) == 1 then
    if owner then
      return 'null'
    end
    owner = project
  end
end
local counts = {}
for _, lane in ipairs(owner and lanes_of(redis.call('SMEMBERS', P .. 'queues')) or {}) do
  local count = redis.call('ZCARD', P .. lane.key)
  if count > 0 then
    local due = count - redis.call('ZCOUNT', P .. lane.ahead, '(' .. now, '+inf')
    counts[#counts + 1] = list({ owner, lane.queue, QUEUED, count, due })
  end
end
return array(counts)
