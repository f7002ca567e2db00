-- needs: words json rows catalog
-- ARGV: jobs: id, dedupe key or false, cursor, facts, document. All or none: answers the place of
-- the first whose name is taken; or below zero, from -1 on, of the first whose id is another
-- project's; or for each null, or the job that it is already.
local given = cjson.decode(ARGV[2])
local names, keys, added, answers = {}, {}, {}, {}

local function project_of(id)
  if added[id] then
    return added[id][4][2]
  end
  local entry = entry_of(id)
  return entry and entry[J_PROJECT]
end

local function known(job, project)
  local key = job[2] and project .. '\0' .. job[2]
  local id = key and (keys[key] or redis.call('HGET', P .. 'dedupe', key)) or job[1]
  return id, project_of(id)
end

for n, job in ipairs(given) do
  local project, name = job[4][2], job[4][2] .. '\0' .. job[4][3]
  local id, owner = known(job, project)
  answers[n] = owner and id
  if owner and owner ~= project then
    return text(-n)
  elseif not owner then
    if names[name] or redis.call('HEXISTS', P .. 'name', name) == 1 then
      return text(n - 1)
    end
    added[job[1]], names[name] = job, true
    if job[2] then
      keys[project .. '\0' .. job[2]] = job[1]
    end
  end
end

for id, job in pairs(added) do
  local entry = { 0 }
  move_cursor(entry, job[3])
  define(entry, job[4])
  entries[id], moved[id] = entry, true
  redis.call('HSET', P .. 'job', id, job[5])
  redis.call('HSET', P .. 'name', entry[J_PROJECT] .. '\0' .. entry[J_NAME], id)
  if job[2] then
    redis.call('HSET', P .. 'dedupe', entry[J_PROJECT] .. '\0' .. job[2], id)
    redis.call('HSET', P .. 'deduped', id, job[2])
  end
  mark('jobs', listed(id, entry), 0)
end
flush()
for n, id in ipairs(answers) do
  answers[n] = id and entry_text(id, entry_of(id)) or 'null'
end
return array(answers)
