-- flags: allow-oom
-- needs: words json rows indexes flow record catalog pending
-- ARGV: now, id, moves, change: cursor, definition (facts, document) or false, pending,
-- executions, skips, recalled fire times; limits of pending executions in gates by id, 0 where the gate is another.
-- Answers false if the job moved since it was read, "taken" if its new name is, else the cursor,
-- how many were withdrawn and how many are asked to give up.
local now, id, change = tonumber(ARGV[2]), ARGV[3], cjson.decode(ARGV[5])
local entry, limits = entry_of(id), cjson.decode(ARGV[6])
local definition, pending = change[2], change[3]
if not entry or entry[J_MOVES] ~= tonumber(ARGV[4]) then
  return false
end
local project, name = entry[J_PROJECT], entry[J_PROJECT] .. '\0' .. entry[J_NAME]
if pending == 'restamp' then
  local live = of_job('live', id)
  fetch(live)
  for _, one in ipairs(live) do
    if rows[one][GATE] and rows[one][STATE] ~= RUNNING and limits[one] == nil then
      return false
    end
  end
end

if definition then
  local new_name = project .. '\0' .. definition[1][3]
  local owner = redis.call('HGET', P .. 'name', new_name)
  if owner and owner ~= id then
    return 'taken'
  end
  redis.call('HDEL', P .. 'name', name)
  redis.call('HSET', P .. 'name', new_name, id)
  local field = 'job_version\0' .. project .. '\0' .. id
    .. string.format('/%08d', entry[J_VERSION])
  redis.call('HSET', P .. 'record', field, '[1,null,' .. redis.call('HGET', P .. 'job', id) .. ']')
  mark('records', field, 0)
  mark('jobs', listed(id, entry), false)
  mark('removable', listed(id, entry), false)
  local replaced = string.format('%08d', entry[J_VERSION])
  define(entry, definition[1])
  redis.call('ZADD', P .. 'versions:' .. id, entry[J_SAVED], replaced)
  redis.call('HSET', P .. 'job', id, definition[2])
  mark('jobs', listed(id, entry), 0)
  -- What is kept may be less from now on.
  for _, look in ipairs({ 'prune', 'skip_look', 'version_look' }) do
    redis.call('ZADD', P .. look, 'LT', now, id)
  end
  redis.call('SADD', P .. 'over', id)
  redis.call('ZREM', P .. 'over_look', id)
end
move_cursor(entry, change[1])
moved[id] = true
if entry[J_STATE] == DELETED then
  if redis.call('HGET', P .. 'name', name) == id then
    redis.call('HDEL', P .. 'name', name)
  end
  redis.call('SADD', P .. 'deleted', id)
end
for one, limit in pairs(limits) do
  limits[one] = limit > 0 and limit
end
record_plan(id, change[4], change[5], now, 0)
flush()
tell_pruner()
local withdrawn, cancelling = change_pending(id, pending, change[6], limits, now)
flush()
return { list(entry, J_VERSION), withdrawn, cancelling }
