-- Where an execution is found: by its state, in its lane, before a gate. Needs rows.
local lanes_known = {}
local OF_STATE = {}
for state = WAITING, SKIPPED do
  OF_STATE[state] = 'state:' .. state .. ':'
end

local function open_lane(row)
  local lane = row[QUEUE] .. '\0' .. row[ABILITY]
  if not lanes_known[lane] then
    lanes_known[lane] = true
    redis.call('SADD', P .. 'queues', row[QUEUE])
    redis.call('SADD', P .. 'lanes:' .. row[QUEUE], row[ABILITY])
  end
  return lane
end

local function before_gate(row)
  if row[WAITS] == JOB_GATE then
    return P .. 'before_job:' .. row[JOB]
  end
  return P .. 'before_key:' .. row[GATE]
end

local function update_indexes(id, row, there)
  local state = row[STATE]
  if state == WAITING then
    mark('due', id, there and row[LOOK_AT] ~= NEVER and row[LOOK_AT])
  elseif state == QUEUED then
    local lane = there and open_lane(row) or row[QUEUE] .. '\0' .. row[ABILITY]
    mark('lane:' .. lane, id, there and row[RANK])
    mark('ahead:' .. lane, id, there and row[RUN_AT])
  elseif state == PARKED then
    local lane = row[QUEUE] .. '\0' .. row[ABILITY]
    if there then
      redis.call('SADD', P .. 'parked', lane)
    end
    mark('parked:' .. lane, id, there and row[RANK])
  elseif state == RUNNING then
    mark('own:' .. row[WORKER], id, there and row[DEADLINE])
  end
  if state ~= SUCCEEDED then
    mark(OF_STATE[state] .. row[PROJECT], id, there and 0)
  end
  if state <= PARKED then
    mark('live', row[JOB] .. '\0' .. id, there and 0)
    if row[EXPIRES] and state ~= RUNNING then
      mark('expiry', id, there and row[EXPIRES])
    end
  elseif state == DEAD then
    mark('deaths', row[JOB] .. '\0' .. id, there and 0)
  end
end

-- Take it from where it is found, before anything changes that says where that is.
local function lift(id, row)
  if not lifted[id] then
    lifted[id] = true
    update_indexes(id, row, false)
    if row[WAITS] then
      redis.call('ZREM', before_gate(row), id)
    end
  end
end

local function move(id, row, state, waits)
  lift(id, row)
  row[STATE], row[WAITS] = state, waits or false
  update_indexes(id, row, true)
  if waits then
    redis.call('ZADD', before_gate(row), row[RANK], id)
  end
  lifted[id] = nil
  dirty[id] = true
end

-- The ids of a job's executions in an index by job, in order.
local function of_job(key, job)
  local found = redis.call('ZRANGE', P .. key, '[' .. job .. '\0', '[' .. job .. '\1', 'BYLEX')
  for n, member in ipairs(found) do
    found[n] = string.sub(member, #job + 2)
  end
  return found
end
