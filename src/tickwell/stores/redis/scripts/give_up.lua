-- flags: allow-oom
-- The planner named in ARGV plans no more; another may at once.
if redis.call('GET', KEYS[1]) == ARGV[1] then
  return redis.call('DEL', KEYS[1])
end
return 0
