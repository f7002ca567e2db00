-- ARGV: field, now, expected version or empty, document, expires at or empty. Answers whether the
-- stored version was the expected one.
local field, now = ARGV[2], tonumber(ARGV[3])
local known, version = redis.call('HGET', P .. 'record', field), 0
if known then
  local number, expires = string.match(known, '^%[(%d+),(%w+),')
  version = (expires == 'null' or tonumber(expires) > now) and tonumber(number) or 0
end
if ARGV[4] ~= '' and tonumber(ARGV[4]) ~= version then
  return 0
end
local expires = ARGV[6] ~= '' and ARGV[6] or 'null'
local value = string.format('[%d,%s,', version + 1, expires) .. ARGV[5] .. ']'
redis.call('HSET', P .. 'record', field, value)
redis.call('ZADD', P .. 'records', 0, field)
if ARGV[6] ~= '' then
  redis.call('ZADD', P .. 'expiring', ARGV[6], field)
else
  redis.call('ZREM', P .. 'expiring', field)
end
return 1
