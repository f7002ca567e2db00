-- Recording executions and skips. Needs flow.
-- A new execution; what is absent at its end is left out.
local N_ID, N_JOB, N_VERSION, N_QUEUE, N_ABILITY, N_KIND, N_FIRE_TIME, N_RUN_AT, N_RANK, N_OVERLAP,
  N_PAYLOAD, N_EXPIRES, N_GATE, N_LIMIT, N_KEY, N_BACKFILL, N_REVIVED =
  1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17

local projects, prune_at = {}, {}

local function is_new(new)
  local existing = row_of(new[N_ID])
  if not existing then
    return true
  elseif existing[STATE] ~= SKIPPED then
    return false
  end
  return new[N_BACKFILL] or existing[REASON] == 'withdrawn' or existing[REASON] == 'misfire'
end

local function remember(id, row, entry, now)
  local job = row[JOB]
  mark('project:' .. row[PROJECT], id, 0)
  mark('job:' .. job, id, 0)
  if row[KEY] then
    redis.call('HSET', P .. 'keys', job .. '\0' .. row[KEY], id)
  end
  if not projects[row[PROJECT]] then
    projects[row[PROJECT]] = true
    redis.call('SADD', P .. 'projects', row[PROJECT])
  end
  prune_at[job] = now + math.min(entry[J_AGE], entry[J_DEAD])
end

local function record(new, now, horizon)
  local id, entry, existing = new[N_ID], entry_of(new[N_JOB]), row_of(new[N_ID])
  local row = {
    entry[J_PROJECT], new[N_JOB], new[N_VERSION], new[N_KIND], WAITING, new[N_FIRE_TIME],
    new[N_RUN_AT], new[N_QUEUE], new[N_ABILITY], now, new[N_PAYLOAD] or false, new[N_KEY] or false,
    0, 0, 0, 0, false, false, false, false, false, false, false, false, new[N_REVIVED] or false,
    new[N_RANK], new[N_OVERLAP], new[N_GATE] or false, new[N_LIMIT] or 0, new[N_RUN_AT],
    new[N_EXPIRES] or false, false, false, false, false, false, entry[J_VERSION], entry[J_HARD],
    false,
  }
  if new[same.RULE] then
    row[same.UNIQUE] = new[same.RULE][same.NAME]
  end
  if existing then
    lift(id, existing)
    row[CREATED], row[ATTEMPT], row[ATTEMPTS] =
      existing[CREATED], existing[ATTEMPT], existing[ATTEMPTS]
  end
  lifted[id], rows[id] = true, row
  remember(id, row, entry, now)
  admit(id, row, now, horizon)
end

-- When the pruner has to look at the jobs that got executions: at once where more is on record than
-- is kept. After `flush`.
local function tell_pruner()
  local looks = {}
  for job, at in pairs(prune_at) do
    looks[#looks + 1] = at
    looks[#looks + 1] = job
    if redis.call('ZCARD', P .. 'job:' .. job) > entry_of(job)[J_COUNT] then
      redis.call('SADD', P .. 'over', job)
    end
  end
  for from = 1, #looks, MOST do
    redis.call('ZADD', P .. 'prune', 'LT', unpack(looks, from, math.min(from + MOST - 1, #looks)))
  end
end

local function record_skips(job, skips)
  local key = P .. 'skips:' .. job
  for _, skip in ipairs(skips) do
    redis.call('ZADD', P .. 'skip_look', 'LT', skip[2] + entry_of(job)[J_AGE] + 1, job)
    -- Numbered, since the same range may be passed over twice.
    local numbered = list({ skip[1], skip[2], skip[3], skip[4], redis.call('ZCARD', key) })
    redis.call('ZADD', key, skip[1], numbered)
  end
end

-- What a plan made, whose runs its cursor counts already; how many were new.
local function record_plan(job, executions, skips, now, horizon)
  record_skips(job, skips)
  local recorded = 0
  for _, new in ipairs(executions) do
    if is_new(new) then
      record(new, now, horizon)
      recorded = recorded + 1
    end
  end
  give_back(job, #executions - recorded, now)
  return recorded
end
