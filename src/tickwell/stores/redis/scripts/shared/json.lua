-- JSON as Python reads it. cjson writes numbers with 14 digits, which is too few for NEVER.
local function text(value)
  if not value then
    return 'null'
  elseif type(value) == 'number' then
    return string.format('%d', value)
  end
  return cjson.encode(value)
end

local function array(parts)
  return '[' .. table.concat(parts, ',') .. ']'
end

-- Values by keys that are JSON themselves, as pairs.
local function pairs_of(counts)
  local parts = {}
  for key, count in pairs(counts) do
    parts[#parts + 1] = array({ key, text(count) })
  end
  return array(parts)
end

local function list(values, count)
  local parts = {}
  for n = 1, count or #values do
    parts[n] = text(values[n])
  end
  return array(parts)
end
