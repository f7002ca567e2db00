-- Jobs that the caller cannot read, which are passed over.
local function set_of(values)
  local set = {}
  for _, value in ipairs(values) do
    set[value] = true
  end
  return set
end

-- The first ids of a sorted set of executions up to a score, but for those of such jobs.
local function first_rows(key, upto, limit, left_out)
  local found, offset = {}, 0
  while #found < limit do
    local ids = redis.call('ZRANGE', P .. key, '-inf', upto, 'BYSCORE', 'LIMIT', offset, limit)
    if #ids == 0 then
      break
    end
    offset = offset + #ids
    fetch(ids)
    for _, id in ipairs(ids) do
      if #found < limit and not left_out[rows[id][JOB]] then
        found[#found + 1] = id
      end
    end
  end
  return found
end
