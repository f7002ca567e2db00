-- flags: no-writes
-- needs: words json rows catalog
-- One stretch of the list of jobs. ARGV: index, from, to, BYLEX or BYSCORE, how many to look at,
-- what is wanted: states, project, queue, search, 1 removable 2 not; false is any. By score, from
-- is an instant and an id. Answers where the stretch ended (false: at the end) and what in it fits.
local order, count, wanted = ARGV[5], tonumber(ARGV[6]), cjson.decode(ARGV[7])
local project, queue, search, removable = wanted[2], wanted[3], wanted[4], wanted[5]
local states, members, found, last = {}, {}, {}, false
for _, state in ipairs(wanted[1]) do
  states[state] = true
end

-- After an instant and an id: the scores of several jobs may be equal.
local function by_score()
  local at, after = string.match(ARGV[3], '^(%d+)%z(.*)$')
  local offset = 0
  local function is_later(id, score)
    return not at or tonumber(score) > tonumber(at) or id > after
  end
  while #members < count do
    local part = redis.call('ZRANGE', P .. ARGV[2], at or '-inf', ARGV[4], 'BYSCORE',
      'LIMIT', offset, count, 'WITHSCORES')
    for n = 1, #part, 2 do
      if #members < count and is_later(part[n], part[n + 1]) then
        members[#members + 1] = part[n]
        last = string.format('%015d', part[n + 1]) .. '\0' .. part[n]
      end
    end
    offset = offset + #part / 2
    if #part < 2 * count then
      return
    end
  end
end

if order == 'BYSCORE' then
  by_score()
else
  members = redis.call('ZRANGE', P .. ARGV[2], ARGV[3], ARGV[4], 'BYLEX', 'LIMIT', 0, count)
  last = members[#members]
  for n, member in ipairs(members) do
    members[n] = string.match(member, '^.*%z(.*)$')
  end
end
read('cursor', members, entries)
for _, id in ipairs(members) do
  local entry = entries[id]
  if states[entry[J_STATE]] and (not project or entry[J_PROJECT] == project)
    and (not queue or entry[J_QUEUE] == queue)
    and (not search or string.find(string.lower(entry[J_NAME]), search, 1, true))
    and (not removable or (entry[J_REMOVE] and 1 or 2) == removable) then
    found[#found + 1] = entry_text(id, entry)
  end
end
return { #members == count and last, array(found) }
