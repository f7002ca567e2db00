-- flags: no-writes
-- ARGV: first field, last field, now, limit. Answers fields and values in turn.
local found, now, limit, offset = {}, tonumber(ARGV[4]), tonumber(ARGV[5]), 0
while #found < 2 * limit do
  local fields = redis.call('ZRANGE', P .. 'records', ARGV[2], ARGV[3], 'BYLEX',
    'LIMIT', offset, 1000)
  if #fields == 0 then
    break
  end
  offset = offset + #fields
  for n, value in ipairs(redis.call('HMGET', P .. 'record', unpack(fields))) do
    local expires = string.match(value, '^%[%d+,(%w+),')
    if #found < 2 * limit and (expires == 'null' or tonumber(expires) > now) then
      found[#found + 1] = fields[n]
      found[#found + 1] = value
    end
  end
end
return found
