-- How executions move: admitted through the gates, ended, passed over. Needs indexes.
-- The same steps as stores/memory/flow.py, which says why.
local stirred = false
local conclude
-- How many ended, by state, project and queue; false: nobody wants to know.
local ended = false
-- Permits of keys and rates; in one table, since Lua has 200 local variables at most. `back_at`: by
-- execution, from when on the permit of its rate can be had again, where that is not its run_at.
local permits = { back_at = {} }

local function moves(id)
  moved[id] = true
end

local function nudge(id, entry, now)
  local limit = entry[J_MAX_RUNS]
  local rests = entry[J_STATE] ~= ACTIVE and entry[J_STATE] ~= FINISHED
  if not rests and (not limit or entry[J_RUNS] < limit) then
    entry[J_STATE], entry[J_NEXT], entry[J_NUDGED] = ACTIVE, now, 1
    stirred = true
  end
  moves(id)
end

local function give_back(id, runs, now)
  local entry = entry_of(id)
  if entry[J_MAX_RUNS] and runs > 0 then
    entry[J_RUNS] = entry[J_RUNS] - runs
    nudge(id, entry, now)
  end
end

local function go_on(row, now)
  if row[KIND] ~= FIRE then
    return
  end
  local entry = entry_of(row[JOB])
  if entry[J_FOLLOWS] then
    entry[J_AFTER] = math.max(entry[J_AFTER], now)
    nudge(row[JOB], entry, now)
  end
  if row[STATE] == SKIPPED then
    give_back(row[JOB], 1, now)
  end
end

local function take_job_permit(id, row)
  if row[OVERLAP] == ALLOW or row[HOLDS_JOB] then
    return true
  elseif holder_of(row[JOB]) then
    return false
  end
  pass_to(row[JOB], id)
  row[HOLDS_JOB] = true
  return true
end

function permits.are_of_rate(gate)
  return string.sub(gate, 1, 1) == '/'
end

function permits.period_of(gate)
  return tonumber(string.match(gate, '^/(%d+)/'))
end

function permits.enter(id, row, free)
  redis.call('SADD', P .. 'holds:' .. row[GATE], id)
  row[HOLDS_KEY] = true
  if permits.are_of_rate(row[GATE]) then
    lift(id, row)
    if free then
      redis.call('ZREM', P .. 'free:' .. row[GATE], free[1])
      row[RUN_AT] = math.max(row[RUN_AT], tonumber(free[2]))
    end
    row[REASON], permits.back_at[id] = false, nil
  end
  move(id, row, QUEUED)
  stirred = true
end

-- Whether a permit can be had, and the one that was used and is back at an instant, if it is that.
function permits.first(gate, limit)
  local room = limit - redis.call('SCARD', P .. 'holds:' .. gate)
  if room <= 0 then
    return false
  end
  local used = redis.call('ZCARD', P .. 'free:' .. gate)
  if used < room then
    return true, nil
  end
  return true, redis.call('ZRANGE', P .. 'free:' .. gate, used - room, used - room, 'WITHSCORES')
end

local function best_before(gate)
  return redis.call('ZRANGE', P .. gate, 0, 0)[1]
end

local function let_in(gate, till)
  while true do
    local following = best_before('before_key:' .. gate)
    local row = following and row_of(following)
    local may, free = false, nil
    if row then
      may, free = permits.first(gate, row[LIMIT])
    end
    if not may then
      return
    elseif free and tonumber(free[2]) > till then
      -- Whoever is the best at that instant gets it, so only one of them is looked at.
      lift(following, row)
      row[LOOK_AT] = tonumber(free[2])
      move(following, row, WAITING, KEY_GATE)
      stirred = true
      return
    end
    permits.enter(following, row, free)
  end
end

local function through_key_gate(id, row, till)
  if not row[GATE] or row[HOLDS_KEY] then
    move(id, row, QUEUED)
    stirred = true
  elseif permits.are_of_rate(row[GATE]) then
    row[REASON] = 'rate'
    move(id, row, BLOCKED, KEY_GATE)
    let_in(row[GATE], till)
  elseif redis.call('SCARD', P .. 'holds:' .. row[GATE]) >= row[LIMIT] then
    move(id, row, BLOCKED, KEY_GATE)
  else
    permits.enter(id, row)
  end
end

-- The permit of a rate can be had again later.
function permits.give_back_later(id, row, now)
  local gate, at = row[GATE], permits.back_at[id] or row[RUN_AT]
  local key = P .. 'free:' .. gate
  redis.call('ZREMRANGEBYSCORE', key, '-inf', now - CLOCKS_APART)
  if at > now - CLOCKS_APART then
    redis.call('ZADD', key, at, redis.call('INCR', P .. 'free_number'))
    redis.call('ZADD', P .. 'rates', 'GT', at, gate)
  end
end

function permits.give_way(id, row, now)
  if row[HOLDS_KEY] and permits.are_of_rate(row[GATE]) then
    permits.give_back_later(id, row, now)
  end
  row[HOLDS_KEY] = false
  redis.call('SREM', P .. 'holds:' .. row[GATE], id)
  let_in(row[GATE], now)
end

-- Move it out of its key's gate, or of the line before it; the next get their turn.
local function leave(id, row, state, now)
  local was_there = row[HOLDS_KEY] or row[WAITS] == KEY_GATE
  move(id, row, state)
  if was_there then
    permits.give_way(id, row, now)
  end
end

local function release_job(id, row, now)
  if not row[HOLDS_JOB] then
    return
  end
  row[HOLDS_JOB] = false
  pass_to(row[JOB], false)
  local following = best_before('before_job:' .. row[JOB])
  if following and take_job_permit(following, row_of(following)) then
    through_key_gate(following, rows[following], now)
  end
end

local function cancel(id, row, now, why)
  if row[STATE] == RUNNING then
    row[CANCEL], row[CALLED_OFF] = true, false
    row[REASON] = why or row[REASON]
    touch(id)
  elseif row[STATE] <= PARKED then
    conclude(id, row, CANCELLED, why or 'cancelled', now)
  end
end

local function overlapped(id, row, now)
  if row[OVERLAP] == SKIP then
    conclude(id, row, SKIPPED, 'overlap', now)
    return
  end
  local others = redis.call('ZRANGE', P .. 'before_job:' .. row[JOB], 0, -1)
  move(id, row, BLOCKED, JOB_GATE)
  if row[OVERLAP] == QUEUE_ONE or row[OVERLAP] == CANCEL_RUNNING then
    table.sort(others)
    fetch(others)
    for _, other in ipairs(others) do
      local its = rows[other]
      if other ~= id and its[STATE] == BLOCKED and its[OVERLAP] ~= QUEUE_ALL then
        conclude(other, its, SKIPPED, 'overlap', now)
      end
    end
  end
  if row[OVERLAP] == CANCEL_RUNNING then
    local holder = holder_of(row[JOB])
    cancel(holder, row_of(holder), now, 'cancelled by a newer fire of the same job')
  end
end

-- Take a waiting execution as far as its instant and its gates allow.
local function admit(id, row, now, horizon)
  local run_at = row[RUN_AT]
  if run_at > now + horizon then
    lift(id, row)
    row[LOOK_AT] = run_at
    move(id, row, WAITING)
  elseif take_job_permit(id, row) then
    through_key_gate(id, row, now + horizon)
  elseif run_at > now then
    lift(id, row)
    row[LOOK_AT] = run_at + horizon
    move(id, row, WAITING, JOB_GATE)
  else
    overlapped(id, row, now)
  end
end

-- End an execution, pass its permits on, and let its job go on.
conclude = function(id, row, state, reason, now)
  lift(id, row)
  if ended then
    local which = cjson.encode({ state, row[PROJECT], row[QUEUE] })
    ended[which] = (ended[which] or 0) + 1
  end
  row[REASON], row[ENDED] = reason, now
  row[CANCEL], row[CALLED_OFF], row[CLAIM] = false, false, false
  leave(id, row, state, now)
  go_on(row, now)
  release_job(id, row, now)
end

local function withdraw(id, row, now)
  conclude(id, row, SKIPPED, 'withdrawn', now)
end

local function hold(id, row, now)
  lift(id, row)
  permits.back_at[id] = permits.back_at[id] or row[RUN_AT]
  row[RUN_AT], row[LOOK_AT], row[REASON] = NEVER, NEVER, false
  leave(id, row, WAITING, now)
end

-- By the definition in force; its gate stays the one it has, with the limit if that is given.
local function restamp(id, row, entry, limit)
  lift(id, row)
  row[LIMIT] = limit or row[LIMIT]
  row[VERSION], row[DEFINITION], row[HARD] = entry[J_VERSION], entry[J_VERSION], entry[J_HARD]
  row[QUEUE], row[ABILITY] = entry[J_QUEUE], entry[J_ABILITY]
  row[RANK] = row[RUN_AT] - entry[J_PRIORITY] * HEAD_START
  move(id, row, row[STATE], row[WAITS])
end

-- Let what a pause held go on from this instant.
local function release(job, at)
  local priority = entry_of(job)[J_PRIORITY]
  local held = of_job('live', job)
  fetch(held)
  for _, id in ipairs(held) do
    local row = rows[id]
    if row[STATE] == WAITING and row[RUN_AT] == NEVER then
      lift(id, row)
      row[RUN_AT] = math.max(at, row[FIRE_TIME])
      row[LOOK_AT], row[RANK] = row[RUN_AT], row[RUN_AT] - priority * HEAD_START
      move(id, row, WAITING)
    end
  end
end
