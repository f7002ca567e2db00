-- What is claimable, best rank first, merged over lanes. Needs rows.
local CHUNK = 100

-- Each lane: its key, its head start, and what was read of it: id, rank, id, rank.
local function lanes_of(queues, abilities)
  local lanes, seen = {}, {}
  for _, queue in ipairs(queues) do
    if not seen[queue] then
      seen[queue] = true
      for _, name in ipairs(redis.call('SMEMBERS', P .. 'lanes:' .. queue)) do
        local ability, head = string.match(name, '^(.*)%z(%-?%d+)$')
        if not abilities or abilities[ability] then
          lanes[#lanes + 1] = {
            key = 'lane:' .. queue .. '\0' .. name, head = tonumber(head), queue = queue,
            name = name, offset = 0, place = 1, read = {},
          }
        end
      end
    end
  end
  return lanes
end

-- An empty lane is forgotten; whoever queues something opens it again.
local function close_if_empty(lane)
  if redis.call('EXISTS', P .. lane.key) == 0 then
    redis.call('SREM', P .. 'lanes:' .. lane.queue, lane.name)
    if redis.call('EXISTS', P .. 'lanes:' .. lane.queue) == 0 then
      redis.call('SREM', P .. 'queues', lane.queue)
    end
  end
end

local function refill(lane, due, chunk)
  lane.read = redis.call('ZRANGE', P .. lane.key, '-inf', due - lane.head, 'BYSCORE',
    'LIMIT', lane.offset, chunk, 'WITHSCORES')
  if #lane.read == 0 and lane.offset == 0 then
    close_if_empty(lane)
  end
  lane.place, lane.offset = 1, lane.offset + #lane.read / 2
  lane.rank = tonumber(lane.read[2])
end

local function is_better(lane, best)
  if not best or lane.rank ~= best.rank then
    return not best or lane.rank < best.rank
  end
  return lane.read[lane.place] < best.read[best.place]
end

-- Of a single lane nothing has to be merged.
local function picker_of_lane(lane, due)
  local offset = 0
  return function(count)
    local keys, picked = {}, redis.call('ZRANGE', P .. lane.key, '-inf', due - lane.head, 'BYSCORE',
      'LIMIT', offset, count)
    if #picked == 0 and offset == 0 then
      close_if_empty(lane)
    end
    offset = offset + #picked
    for n = 1, #picked do
      keys[n] = lane.key
    end
    return picked, keys
  end
end

-- A function that answers the next best ids, as many as it is asked for, and the lane of each.
local function picker(queues, abilities, due)
  local lanes = lanes_of(queues, abilities)
  if #lanes == 1 then
    return picker_of_lane(lanes[1], due)
  end
  return function(count)
    local chunk, picked, keys = math.min(count, CHUNK), {}, {}
    while #picked < count do
      local best
      for _, lane in ipairs(lanes) do
        if not lane.read[lane.place] and not lane.done then
          refill(lane, due, chunk)
          lane.done = #lane.read == 0
        end
        if not lane.done and is_better(lane, best) then
          best = lane
        end
      end
      if not best then
        break
      end
      picked[#picked + 1] = best.read[best.place]
      keys[#picked] = best.key
      best.place = best.place + 2
      best.rank = tonumber(best.read[best.place + 1])
    end
    return picked, keys
  end
end

-- The same among given executions only.
local function picker_of_ids(ids, queues, abilities, due)
  local wanted, found = {}, {}
  for _, queue in ipairs(queues) do
    wanted[queue] = true
  end
  fetch(ids)
  for _, id in ipairs(ids) do
    local row = rows[id]
    if row and row[STATE] == QUEUED and row[RUN_AT] <= due and wanted[row[QUEUE]]
      and abilities[row[ABILITY]] then
      found[#found + 1] = id
    end
  end
  table.sort(found, function(one, other)
    local rank, others = rows[one][RANK], rows[other][RANK]
    return rank < others or (rank == others and one < other)
  end)
  return function(count)
    local picked, keys = {}, {}
    while #picked < count and #found > 0 do
      local row = rows[found[1]]
      keys[#keys + 1] = 'lane:' .. row[QUEUE] .. '\0' .. row[ABILITY] .. '\0'
        .. string.format('%d', row[RUN_AT] - row[RANK])
      picked[#picked + 1] = table.remove(found, 1)
    end
    return picked, keys
  end
end
