"""What all keys of a store must agree on, read straight from the server by a script of its own."""

import json

#: Every index that a row belongs to by its state, and every permit, from the rows themselves.
CHECK = """
local P, wrong = KEYS[1], {}
local function expect(what, one, other)
  if one ~= other then
    wrong[#wrong + 1] = what .. ': ' .. tostring(one) .. ' ~= ' .. tostring(other)
  end
end
local rows, counts, gates = redis.call('HGETALL', P .. 'x'), {}, {}
for n = 1, #rows, 2 do
  local id, row = rows[n], cmsgpack.unpack(rows[n + 1])
  local state = row[5]
  local function has(key, member)
    return redis.call('ZSCORE', P .. key, member or id) ~= false
  end
  for code = 0, 8 do
    if code ~= 5 then
      expect(id .. ' in state ' .. code, has('state:' .. code .. ':' .. row[1]), code == state)
    end
  end
  expect(id .. ' of its project', has('project:' .. row[1]), true)
  expect(id .. ' of its job', has('job:' .. row[2]), true)
  expect(id .. ' live', has('live', row[2] .. '\\0' .. id), state <= 4)
  expect(id .. ' due', has('due'), state == 0 and row[30] ~= 253402300799999)
  expect(id .. ' owned', row[18] and has('own:' .. row[18]) or false, state == 3)
  local lane = row[8] .. '\\0' .. row[9]
  expect(id .. ' claimable', has('lane:' .. lane), state == 2)
  expect(id .. ' ahead and not claimable', has('ahead:' .. lane) and state ~= 2, false)
  expect(id .. ' before its job', has('before_job:' .. row[2]), row[32] == 1)
  if row[28] then
    expect(id .. ' before its key', has('before_key:' .. row[28]), row[32] == 2)
    local holds = redis.call('SISMEMBER', P .. 'holds:' .. row[28], id) == 1
    expect(id .. ' in its gate', holds, row[34])
    gates[row[28]] = (gates[row[28]] or 0) + (row[34] and 1 or 0)
  end
  expect(id .. ' holds its job', redis.call('HGET', P .. 'holder', row[2]) == id, row[33])
  if state > 4 then
    expect(id .. ' ended with permits', row[33] or row[34], false)
  end
  counts[state] = (counts[state] or 0) + 1
end
for gate, held in pairs(gates) do
  expect('permits of ' .. gate, redis.call('SCARD', P .. 'holds:' .. gate), held)
end
return cjson.encode({wrong = wrong, live = redis.call('ZCARD', P .. 'live'), gates = gates})
"""


def contradictions(keys, prefix):
    """Where keys disagree with the rows; none is right."""
    found = json.loads(keys.eval(CHECK, 1, f"{{{prefix}}}:"))
    return list(found["wrong"])
