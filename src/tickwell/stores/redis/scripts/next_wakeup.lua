-- flags: no-writes
-- needs: words json rows lanes left_out
-- ARGV: now, queues or false, jobs to leave out of planning, and of everything. Answers when to
-- fire, to promote, to expire and to run.
local queues = cjson.decode(ARGV[3])
local unplanned, left_out = set_of(cjson.decode(ARGV[4])), set_of(cjson.decode(ARGV[5]))

local function first(key, is_left_out)
  for n = 0, redis.call('ZCARD', P .. key) - 1 do
    local found = redis.call('ZRANGE', P .. key, n, n, 'WITHSCORES')
    if not is_left_out(found[1]) then
      return tonumber(found[2])
    end
  end
  return false
end

local function is_unplanned(id)
  return unplanned[id]
end

local function is_unread(id)
  return next(left_out) and left_out[row_of(id)[JOB]]
end

local run = false
for _, lane in ipairs(lanes_of(queues or redis.call('SMEMBERS', P .. 'queues'))) do
  local found = redis.call('ZRANGE', P .. lane.ahead, '(' .. ARGV[2], '+inf', 'BYSCORE',
    'LIMIT', 0, 1, 'WITHSCORES')
  if found[2] then
    run = math.min(run or NEVER, tonumber(found[2]))
  end
end
return list({ first('fire', is_unplanned), first('due', is_unread), first('expiry', is_unread), run })
