-- flags: no-writes
-- needs: words json rows history
-- One stretch of the history, newest id first. ARGV: source, where to begin (a lexical bound), how
-- many to look at, what is wanted: project, job, states, kind, queue, since, until, due before,
-- ability; false is any. Answers where the stretch ended (false: at the end) and what in it fits.
local source, count = cjson.decode(ARGV[2]), tonumber(ARGV[4])
local wanted = cjson.decode(ARGV[5])
local project, job, states, kind, queue, since, before, due, ability = unpack(wanted, 1, 9)
local fits = {}
for _, state in ipairs(states or {}) do
  fits[state] = true
end

local function keys()
  if source.key then
    return { source.key }
  end
  local found = {}
  for _, name in ipairs(project and { project } or redis.call('SMEMBERS', P .. 'projects')) do
    for _, index in ipairs(source.indexes) do
      found[#found + 1] = index .. name
    end
  end
  return found
end

-- The newest of all sources are among the newest of each.
local ids, full = {}, false
for _, key in ipairs(keys()) do
  local from, upto = ARGV[3], '-'
  if source.prefix then
    upto = '[' .. source.prefix
    from = '(' .. source.prefix .. (from == '+' and '\255' or string.sub(from, 2))
  end
  local found = redis.call('ZRANGE', P .. key, from, upto, 'BYLEX', 'REV', 'LIMIT', 0, count)
  full = full or #found == count
  for _, member in ipairs(found) do
    ids[#ids + 1] = source.prefix and string.sub(member, #source.prefix + 1) or member
  end
end
table.sort(ids, function(one, other) return one > other end)
full = full or #ids > count
for n = #ids, count + 1, -1 do
  ids[n] = nil
end
fetch(ids)
local found = {}
for _, id in ipairs(ids) do
  local row = rows[id]
  if (not project or row[PROJECT] == project) and (not job or row[JOB] == job)
    and (not states or fits[row[STATE]]) and (not kind or row[KIND] == kind)
    and (not queue or row[QUEUE] == queue) and (not ability or row[ABILITY] == ability)
    and (not since or row[FIRE_TIME] >= since)
    and (not before or row[FIRE_TIME] < before) and (not due or row[RUN_AT] < due) then
    found[#found + 1] = execution_text(id, row)
  end
end
return { full and ids[#ids] or false, array(found) }
