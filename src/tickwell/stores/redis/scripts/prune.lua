-- flags: allow-oom
-- needs: words json rows indexes catalog aging forgetting
-- ARGV: now, limit. Deletes up to so many of each kind: ended executions and range skips past
-- their retention, former definitions, expired records, lost workers; then deleted jobs without
-- history. Answers how many.
local now, limit = tonumber(ARGV[2]), tonumber(ARGV[3])
local pruned, looked = 0, 0
-- Rows that one call looks at, and how often a job is looked at while its history ages once: what
-- is old is found late by a thousandth of its age, and nobody waits long for this script.
local MOST_LOOKED, LOOKS = 20000, 1000
-- Milliseconds, for each that a job has beyond what it keeps, until it is looked at again, and how
-- many are nothing to wait for: dead letters, which have a time of their own, are passed over.
local LOOK, FEW = 5, 1000

local function drop(ids)
  forget_rows(ids)
  pruned = pruned + #ids
end

local function age_of(row, entry)
  return row[ENDED] + (row[STATE] == DEAD and entry[J_DEAD] or entry[J_AGE])
end

-- All that is past its age or its count, and when to look again: the memory store's rule.
local function old_by_age(job, entry)
  local ids, old, kept = redis.call('ZRANGE', P .. 'job:' .. job, 0, -1, 'REV'), {}, 0
  local age = math.min(entry[J_AGE], entry[J_DEAD])
  local again = #ids > 0 and now + age or false
  looked = looked + #ids
  fetch(ids)
  for _, id in ipairs(ids) do
    local row = rows[id]
    local dead = row[STATE] == DEAD
    if row[STATE] > PARKED then
      if age_of(row, entry) <= now or (not dead and kept >= entry[J_COUNT]) then
        old[#old + 1] = id
      else
        kept = kept + (dead and 0 or 1)
        again = math.min(again, age_of(row, entry))
      end
    end
  end
  return old, again and math.max(again, now + math.floor(age / LOOKS))
end

-- The oldest of those that are too many, when none is past its age.
local function old_by_count(job, entry)
  local key, old, offset = P .. 'job:' .. job, {}, 0
  local excess = redis.call('ZCARD', key) - entry[J_COUNT]
  for _, index in ipairs({ 'live', 'deaths' }) do
    excess = excess - redis.call('ZLEXCOUNT', P .. index, '[' .. job .. '\0', '[' .. job .. '\1')
  end
  while #old < excess do
    local ids = redis.call('ZRANGE', key, offset, offset + 499)
    if #ids == 0 then
      break
    end
    offset = offset + #ids
    fetch(ids)
    for _, id in ipairs(ids) do
      local state = rows[id][STATE]
      if #old < excess and state > PARKED and state ~= DEAD then
        old[#old + 1] = id
      end
    end
  end
  return old
end

local function cut(ids)
  for n = #ids, limit - pruned + 1, -1 do
    ids[n] = nil
  end
  return ids
end

local function prune_by_age()
  for _, job in ipairs(to_look_at('prune', now, limit)) do
    local entry = entry_of(job)
    if pruned >= limit or looked >= MOST_LOOKED then
      return
    elseif entry then
      local old, again = old_by_age(job, entry)
      local found = #old
      drop(cut(old))
      if found == #old then
        look_again('prune', job, again)
      end
    else
      look_again('prune', job, false)
    end
  end
end

local function prune_by_count()
  for _, job in ipairs(redis.call('SMEMBERS', P .. 'over')) do
    local entry = entry_of(job)
    if pruned >= limit then
      return
    end
    local look = redis.call('ZSCORE', P .. 'over_look', job)
    if entry and (not look or tonumber(look) <= now) then
      drop(cut(old_by_count(job, entry)))
      if pruned < limit then
        local beyond = redis.call('ZCARD', P .. 'job:' .. job) - entry[J_COUNT]
        look_again('over_look', job, beyond > FEW and now + LOOK * (beyond - FEW))
      end
    end
    if not entry or redis.call('ZCARD', P .. 'job:' .. job) <= entry[J_COUNT] then
      redis.call('SREM', P .. 'over', job)
      redis.call('ZREM', P .. 'over_look', job)
    end
  end
end

local function prune_workers()
  local gone = {}
  for _, worker in ipairs(redis.call('HKEYS', P .. 'worker')) do
    local noted = redis.call('HGET', P .. 'worker', worker)
    local seen, lost = string.match(noted, '^%[%d+,(%d+),(%d),')
    if #gone < limit and lost == '1' and seen + DAY <= now
      and redis.call('EXISTS', P .. 'own:' .. worker) == 0 then
      gone[#gone + 1] = worker
    end
  end
  variadic('HDEL', 'worker', gone)
  return #gone
end

local function forget(job, entry)
  local versions = 'job_version\0' .. entry[J_PROJECT] .. '\0' .. job .. '/'
  local fields = redis.call('ZRANGE', P .. 'records', '[' .. versions, '(' .. versions .. '\255',
    'BYLEX')
  variadic('HDEL', 'record', fields)
  variadic('ZREM', 'records', fields)
  local key = redis.call('HGET', P .. 'deduped', job)
  if key then
    redis.call('HDEL', P .. 'dedupe', entry[J_PROJECT] .. '\0' .. key)
    redis.call('HDEL', P .. 'deduped', job)
  end
  mark('jobs', listed(job, entry), false)
  mark('fire', job, false)
  mark('fire:' .. entry[J_PROJECT], job, false)
  redis.call('HDEL', P .. 'job', job)
  redis.call('HDEL', P .. 'cursor', job)
  redis.call('UNLINK', P .. 'skips:' .. job, P .. 'versions:' .. job)
  for _, look in ipairs({ 'prune', 'skip_look', 'version_look', 'over_look' }) do
    redis.call('ZREM', P .. look, job)
  end
  redis.call('SREM', P .. 'deleted', job)
end

local function prune_jobs()
  local gone = 0
  for _, job in ipairs(redis.call('SMEMBERS', P .. 'deleted')) do
    if gone < limit and redis.call('EXISTS', P .. 'job:' .. job) == 0 then
      gone = gone + 1
      forget(job, entry_of(job))
    end
  end
  flush()
  return gone
end

-- Rates of which every permit can be had again.
local function forget_rates()
  local edge = now - CLOCKS_APART
  local idle = redis.call('ZRANGE', P .. 'rates', '-inf', edge, 'BYSCORE', 'LIMIT', 0, limit)
  for _, gate in ipairs(idle) do
    redis.call('UNLINK', P .. 'free:' .. gate)
  end
  variadic('ZREM', 'rates', idle)
  -- Fewer than the limit are the last ones.
  return #idle < limit and 0 or #idle
end

prune_by_age()
prune_by_count()
pruned = pruned + forget_rates()
local projects = redis.call('SMEMBERS', P .. 'projects')
for _, project in ipairs(projects) do
  if redis.call('EXISTS', P .. 'project:' .. project) == 0 then
    redis.call('SREM', P .. 'projects', project)
  end
end
pruned = pruned + prune_skips(now, limit) + prune_versions(now, limit)
return pruned + prune_records(now, limit) + prune_workers() + prune_jobs()
