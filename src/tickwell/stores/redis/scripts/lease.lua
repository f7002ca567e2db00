-- flags: allow-oom
-- Who plans: KEYS[1] names the planner at work for a while. ARGV: a planner, milliseconds.
-- Answers 0 when it is this one now, else how long the other may still be at it.
local holder = redis.call('GET', KEYS[1])
if holder and holder ~= ARGV[1] then
  return math.max(redis.call('PTTL', KEYS[1]), 1)
end
redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[2])
return 0
