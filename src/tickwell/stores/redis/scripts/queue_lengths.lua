-- flags: no-writes
-- needs: words json rows
-- One stretch of what is live. ARGV: now, how many to pass over, how many to look at, and "queued"
-- to count what is queued as well. Answers how many to pass over next, 0 at the end, and lists of
-- project, queue, state, how many executions, and how many of them are due.
local now, skip, left = tonumber(ARGV[2]), tonumber(ARGV[3]), tonumber(ARGV[4])
local states, next_skip = { WAITING, BLOCKED, RUNNING, PARKED }, skip + left
if ARGV[5] == 'queued' then
  states[#states + 1] = QUEUED
end
local sums, order = {}, {}

local function add(project, state, row)
  local key = state .. project .. '\0' .. row[QUEUE]
  local sum = sums[key]
  if not sum then
    sum = { project, row[QUEUE], state, 0, 0 }
    sums[key], order[#order + 1] = sum, sum
  end
  sum[4], sum[5] = sum[4] + 1, sum[5] + (row[RUN_AT] <= now and 1 or 0)
end

local projects = redis.call('SMEMBERS', P .. 'projects')
table.sort(projects)
for _, project in ipairs(projects) do
  for _, state in ipairs(states) do
    local key = P .. 'state:' .. state .. ':' .. project
    local size = redis.call('ZCARD', key)
    if left > 0 and skip < size then
      local ids = redis.call('ZRANGE', key, skip, skip + left - 1)
      fetch(ids)
      for _, id in ipairs(ids) do
        add(project, state, rows[id])
      end
      left = left - #ids
    end
    skip = math.max(skip - size, 0)
  end
end
for n, sum in ipairs(order) do
  order[n] = list(sum)
end
return array({ text(left == 0 and next_skip or 0), unpack(order) })
