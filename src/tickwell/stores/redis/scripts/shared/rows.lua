-- One unit of work: rows are read once, changed here, and written with their indexes by `flush`.
local MOST = 2000
local rows, dirty, index, lifted = {}, {}, {}, {}
local entries, moved, holders, passed = {}, {}, {}, {}

local function variadic(command, key, values)
  for from = 1, #values, MOST do
    redis.call(command, P .. key, unpack(values, from, math.min(from + MOST - 1, #values)))
  end
end

-- Read what is not read yet of a hash of packed rows into a table; false where there is none.
local function read(key, ids, into)
  local missing = {}
  for _, id in ipairs(ids) do
    if into[id] == nil then
      into[id] = false
      missing[#missing + 1] = id
    end
  end
  for from = 1, #missing, MOST do
    local upto = math.min(from + MOST - 1, #missing)
    local found = redis.call('HMGET', P .. key, unpack(missing, from, upto))
    for n = from, upto do
      local packed = found[n - from + 1]
      into[missing[n]] = packed and cmsgpack.unpack(packed)
    end
  end
end

local function fetch(ids)
  read('x', ids, rows)
end

local function row_of(id)
  if rows[id] == nil then
    fetch({ id })
  end
  return rows[id]
end

local function entry_of(id)
  if entries[id] == nil then
    read('cursor', { id }, entries)
  end
  return entries[id]
end

-- A member of a sorted set, or none if the score is false. The last word on a member counts.
local function mark(key, member, score)
  local members = index[key]
  if not members then
    members = {}
    index[key] = members
  end
  members[member] = score
end

local function touch(id)
  dirty[id] = true
end

local function holder_of(job)
  if holders[job] == nil then
    holders[job] = redis.call('HGET', P .. 'holder', job)
  end
  return holders[job]
end

local function fetch_holders(jobs)
  for from = 1, #jobs, MOST do
    local upto = math.min(from + MOST - 1, #jobs)
    local found = redis.call('HMGET', P .. 'holder', unpack(jobs, from, upto))
    for n = from, upto do
      holders[jobs[n]] = found[n - from + 1]
    end
  end
end

local function pass_to(job, id)
  holders[job] = id
  passed[job] = true
end

local function listed(id, entry)
  return entry[J_PROJECT] .. '\0' .. entry[J_NAME] .. '\0' .. id
end

local function write_entries()
  local packed = {}
  for id in pairs(moved) do
    local entry = entries[id]
    entry[J_MOVES] = entry[J_MOVES] + 1
    mark('fire', id, entry[J_NEXT])
    mark('fire:' .. entry[J_PROJECT], id, entry[J_NEXT])
    if entry[J_REMOVE] then
      mark('removable', listed(id, entry), entry[J_STATE] == FINISHED and 0)
    end
    packed[#packed + 1] = id
    packed[#packed + 1] = cmsgpack.pack(entry)
  end
  variadic('HSET', 'cursor', packed)
end

local function write_holders()
  local taken, free = {}, {}
  for job in pairs(passed) do
    if holders[job] then
      taken[#taken + 1] = job
      taken[#taken + 1] = holders[job]
    else
      free[#free + 1] = job
    end
  end
  variadic('HSET', 'holder', taken)
  variadic('HDEL', 'holder', free)
end

local function write_index()
  for key, members in pairs(index) do
    local added, gone = {}, {}
    for member, score in pairs(members) do
      if score then
        added[#added + 1] = score
        added[#added + 1] = member
      else
        gone[#gone + 1] = member
      end
    end
    variadic('ZADD', key, added)
    variadic('ZREM', key, gone)
  end
end

local function flush()
  local packed = {}
  for id in pairs(dirty) do
    packed[#packed + 1] = id
    packed[#packed + 1] = cmsgpack.pack(rows[id])
  end
  variadic('HSET', 'x', packed)
  write_entries()
  write_holders()
  write_index()
  dirty, index, moved, passed = {}, {}, {}, {}
end
