-- needs: words json rows lanes
-- ARGV: state, queued or parked; how far to count. Answers of each lane that holds something queue,
-- ability, how many, and project, job, version and run time of what is best in it.
local limit, prefix, names = tonumber(ARGV[3]), 'parked:', nil
if tonumber(ARGV[2]) == PARKED then
  names = redis.call('SMEMBERS', P .. 'parked')
else
  prefix, names = 'lane:', {}
  for n, lane in ipairs(lanes_of(redis.call('SMEMBERS', P .. 'queues'))) do
    names[n] = lane.queue .. '\0' .. lane.ability
  end
end
local found = {}
for _, name in ipairs(names) do
  local key = prefix .. name
  local best = redis.call('ZRANGE', P .. key, 0, 0)[1]
  if best then
    local queue, ability = string.match(name, '^(.-)%z(.*)$')
    local count, row = math.min(redis.call('ZCARD', P .. key), limit), row_of(best)
    found[#found + 1] = list({
      queue, ability, count, row[PROJECT], row[JOB], row[VERSION], row[RUN_AT],
    })
  elseif prefix == 'parked:' then
    redis.call('SREM', P .. 'parked', name)
  end
end
return array(found)
