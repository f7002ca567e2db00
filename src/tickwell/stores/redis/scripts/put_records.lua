-- needs: json
-- ARGV: now; fields, documents as JSON, expires at or false, in three lists. Each is written as the
-- next version, whatever is there; what has expired is not.
local now, fields = tonumber(ARGV[2]), cjson.decode(ARGV[3])
local documents, expirations = cjson.decode(ARGV[4]), cjson.decode(ARGV[5])
for n, field in ipairs(fields) do
  local known, version = redis.call('HGET', P .. 'record', field), 0
  if known then
    local number, expires = string.match(known, '^%[(%d+),(%w+),')
    version = (expires == 'null' or tonumber(expires) > now) and tonumber(number) or 0
  end
  local value = string.format('[%d,%s,', version + 1, text(expirations[n])) .. documents[n] .. ']'
  redis.call('HSET', P .. 'record', field, value)
  redis.call('ZADD', P .. 'records', 0, field)
  if expirations[n] then
    redis.call('ZADD', P .. 'expiring', expirations[n], field)
  else
    redis.call('ZREM', P .. 'expiring', field)
  end
end
return 1
