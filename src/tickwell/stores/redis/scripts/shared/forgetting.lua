-- Executions that go for good. Needs rows and indexes.

local function forget_rows(ids)
  for _, id in ipairs(ids) do
    local row = rows[id]
    lift(id, row)
    mark('project:' .. row[PROJECT], id, false)
    mark('job:' .. row[JOB], id, false)
    if row[KEY] then
      redis.call('HDEL', P .. 'keys', row[JOB] .. '\0' .. row[KEY])
    end
    if row[same.UNIQUE] then
      redis.call('ZREM', P .. 'same:' .. row[JOB] .. '\0' .. row[same.UNIQUE], id)
      redis.call('SREM', P .. 'same_live:' .. row[JOB] .. '\0' .. row[same.UNIQUE], id)
    end
  end
  variadic('HDEL', 'x', ids)
  for _, id in ipairs(ids) do
    redis.call('UNLINK', P .. 'steps:' .. id)
  end
  flush()
end
