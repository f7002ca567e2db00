-- needs: words json rows catalog
-- ARGV: jobs: id, dedupe key or false, cursor, facts, document. All or none: answers the place of
-- the first whose name is taken, or for each null, or the job that it is already.
local given = cjson.decode(ARGV[2])
local names, keys, added, answers = {}, {}, {}, {}

local function known(job, project)
  local key = job[2] and project .. '\0' .. job[2]
  local id = key and (keys[key] or redis.call('HGET', P .. 'dedupe', key)) or job[1]
  return (added[id] or entry_of(id)) and id
end

for n, job in ipairs(given) do
  local project, name = job[4][2], job[4][2] .. '\0' .. job[4][3]
  answers[n] = known(job, project)
  if not answers[n] then
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
