-- What is claimable, best rank first, merged over lanes. Needs rows.
local CHUNK = 100

-- Whether one of these will do: the project's own, or one that is shared with all projects.
local function is_able(ability, abilities)
  if abilities[ability] then
    return true
  end
  local handler = string.match(ability, '^call:[^/]*/(.*)$') or string.match(ability, '^call:(.*)$')
  return handler and abilities['call:*/' .. handler]
end

-- Each lane: its keys, and what was read of it: id, rank, id, rank.
local function lanes_of(queues, abilities)
  local lanes, seen = {}, {}
  for _, queue in ipairs(queues) do
    if not seen[queue] then
      seen[queue] = true
      for _, ability in ipairs(redis.call('SMEMBERS', P .. 'lanes:' .. queue)) do
        if not abilities or is_able(ability, abilities) then
          local name = queue .. '\0' .. ability
          lanes[#lanes + 1] = {
            key = 'lane:' .. name, ahead = 'ahead:' .. name, queue = queue, ability = ability,
            offset = 0, place = 1, read = {}, early = {},
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
    redis.call('SREM', P .. 'lanes:' .. lane.queue, lane.ability)
    if redis.call('EXISTS', P .. 'lanes:' .. lane.queue) == 0 then
      redis.call('SREM', P .. 'queues', lane.queue)
    end
  end
end

-- Note what is planned ahead and may not be claimed yet; what has come due is ahead no more.
local function look_ahead(lane, now, due)
  redis.call('ZREMRANGEBYSCORE', P .. lane.ahead, '-inf', now)
  local early = redis.call('ZRANGE', P .. lane.ahead, string.format('(%d', due), '+inf', 'BYSCORE')
  for _, id in ipairs(early) do
    lane.early[id] = true
  end
end

local function refill(lane, chunk)
  lane.read, lane.place = {}, 1
  while #lane.read == 0 do
    local found = redis.call('ZRANGE', P .. lane.key, lane.offset, lane.offset + chunk - 1,
      'WITHSCORES')
    if #found == 0 then
      lane.done = true
      if lane.offset == 0 then
        close_if_empty(lane)
      end
      return
    end
    lane.offset = lane.offset + #found / 2
    for n = 1, #found, 2 do
      if not lane.early[found[n]] then
        lane.read[#lane.read + 1] = found[n]
        lane.read[#lane.read + 1] = tonumber(found[n + 1])
      end
    end
  end
end

local function is_better(lane, best)
  local rank, others = lane.read[lane.place + 1], best and best.read[best.place + 1]
  if not best or rank ~= others then
    return not best or rank < others
  end
  return lane.read[lane.place] < best.read[best.place]
end

-- A function that answers the next best ids, as many as it is asked for, with the lane and the rank
-- of each.
local function picker(queues, abilities, now, due)
  local lanes = lanes_of(queues, abilities)
  for _, lane in ipairs(lanes) do
    look_ahead(lane, now, due)
  end
  return function(count)
    local chunk, picked, keys = #lanes > 1 and math.min(count, CHUNK) or count, {}, {}
    local ranks = {}
    while #picked < count do
      local best
      for _, lane in ipairs(lanes) do
        if not lane.read[lane.place] and not lane.done then
          refill(lane, chunk)
        end
        if not lane.done and is_better(lane, best) then
          best = lane
        end
      end
      if not best then
        break
      end
      picked[#picked + 1] = best.read[best.place]
      keys[#picked], ranks[#picked] = best.key, best.read[best.place + 1]
      best.place = best.place + 2
    end
    return picked, keys, ranks
  end
end

-- The same among given executions only.
local function picker_of_ids(ids, queues, abilities)
  local wanted, found = {}, {}
  for _, queue in ipairs(queues) do
    wanted[queue] = true
  end
  fetch(ids)
  for _, id in ipairs(ids) do
    local row = rows[id]
    if row and row[STATE] == QUEUED and wanted[row[QUEUE]] and is_able(row[ABILITY], abilities) then
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
      keys[#keys + 1] = 'lane:' .. row[QUEUE] .. '\0' .. row[ABILITY]
      picked[#picked + 1] = table.remove(found, 1)
    end
    return picked, keys
  end
end
