-- What is deleted by age alone: range skips, former definitions, records. Needs rows.

-- The jobs to be looked at by now, in an index of when to look.
local function to_look_at(key, now, limit)
  return redis.call('ZRANGE', P .. key, '-inf', now, 'BYSCORE', 'LIMIT', 0, limit)
end

local function look_again(key, job, at)
  if at then
    redis.call('ZADD', P .. key, at, job)
  else
    redis.call('ZREM', P .. key, job)
  end
end

local function prune_skips(now, limit)
  local pruned = 0
  for _, job in ipairs(to_look_at('skip_look', now, limit)) do
    local entry, key, old, again = entry_of(job), 'skips:' .. job, {}, false
    for _, skip in ipairs(entry and redis.call('ZRANGE', P .. key, 0, -1) or {}) do
      local at = cjson.decode(skip)[2] + entry[J_AGE] + 1
      if at <= now and pruned + #old < limit then
        old[#old + 1] = skip
      else
        again = math.min(again or NEVER, at)
      end
    end
    variadic('ZREM', key, old)
    pruned = pruned + #old
    look_again('skip_look', job, again)
  end
  return pruned
end

-- Former definitions that are many, and were replaced before the history begins.
local function prune_versions(now, limit)
  local fields = {}
  for _, job in ipairs(to_look_at('version_look', now, limit)) do
    local entry, key, old, again = entry_of(job), 'versions:' .. job, {}, false
    local kept = redis.call('ZRANGE', P .. key, 0, -1, 'WITHSCORES')
    for n = 1, #kept, 2 do
      local at = kept[n + 1] + entry[J_AGE] + 1
      if tonumber(kept[n]) >= entry[J_VERSION] - KEPT_VERSIONS then
        break
      elseif at > now or #fields >= limit then
        again = at
        break
      end
      old[#old + 1] = kept[n]
      fields[#fields + 1] = 'job_version\0' .. entry[J_PROJECT] .. '\0' .. job .. '/' .. kept[n]
    end
    variadic('ZREM', key, old)
    look_again('version_look', job, again)
  end
  variadic('HDEL', 'record', fields)
  variadic('ZREM', 'records', fields)
  return #fields
end

local function prune_records(now, limit)
  local fields = redis.call('ZRANGE', P .. 'expiring', '-inf', now, 'BYSCORE', 'LIMIT', 0, limit)
  variadic('HDEL', 'record', fields)
  variadic('ZREM', 'records', fields)
  variadic('ZREM', 'expiring', fields)
  return #fields
end
