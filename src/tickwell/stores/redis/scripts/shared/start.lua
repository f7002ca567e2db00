-- Every script begins here. KEYS[1] is "{prefix}:epoch", ARGV[1] the epoch that the caller knows.
local P = string.sub(KEYS[1], 1, -6)
if redis.call('GET', KEYS[1]) ~= ARGV[1] then
  return redis.error_reply('TICKWELL_LOST the epoch is not the one that was seen')
end
