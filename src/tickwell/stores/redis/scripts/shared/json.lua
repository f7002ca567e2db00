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

local function list(values, count)
  local parts = {}
  for n = 1, count or #values do
    parts[n] = text(values[n])
  end
  return array(parts)
end
