-- needs: words json rows
-- ARGV: records: field, what is stored of it, expires at or false; former definitions: job, version,
-- since when it was in force.
for _, record in ipairs(cjson.decode(ARGV[2])) do
  local field, value, expires = record[1], record[2], record[3]
  redis.call('HSET', P .. 'record', field, value)
  redis.call('ZADD', P .. 'records', 0, field)
  if expires then
    redis.call('ZADD', P .. 'expiring', expires, field)
  else
    redis.call('ZREM', P .. 'expiring', field)
  end
end
-- Each was replaced when the next one, or the job's own, came into force.
for _, former in ipairs(cjson.decode(ARGV[3])) do
  local job, version, since = former[1], former[2], former[3]
  local key, entry = P .. 'versions:' .. job, entry_of(job)
  local before = string.format('%08d', tonumber(version) - 1)
  redis.call('ZADD', key, 'XX', since, before)
  if entry then
    redis.call('ZADD', key, entry[J_SAVED], version)
    redis.call('ZADD', P .. 'version_look', 'LT', 0, job)
  end
end
return 1
