-- flags: no-writes
-- ARGV: the field before, now, limit. Fields and values in turn.
local found, now, limit, from = {}, tonumber(ARGV[3]), tonumber(ARGV[4]), '(' .. ARGV[2]
while #found < 2 * limit do
  local fields = redis.call('ZRANGE', P .. 'records', from, '+', 'BYLEX', 'LIMIT', 0, 1000)
  if #fields == 0 then
    break
  end
  from = '(' .. fields[#fields]
  for n, value in ipairs(redis.call('HMGET', P .. 'record', unpack(fields))) do
    local expires = string.match(value, '^%[%d+,(%w+),')
    if #found < 2 * limit and (expires == 'null' or tonumber(expires) > now) then
      found[#found + 1] = fields[n]
      found[#found + 1] = value
    end
  end
end
return found
