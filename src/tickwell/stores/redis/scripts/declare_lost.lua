-- flags: allow-oom
-- ARGV: worker, beat. Answers whether it is lost now; one that nobody knows is.
local known = redis.call('HGET', P .. 'worker', ARGV[2])
if not known then
  return 1
end
local beat, seen, lost, document = string.match(known, '^%[(%d+),(%d+),(%d),(.*)%]$')
if beat == ARGV[3] and lost == '0' then
  lost = '1'
  redis.call('HSET', P .. 'worker', ARGV[2], '[' .. beat .. ',' .. seen .. ',1,' .. document .. ']')
end
return tonumber(lost)
