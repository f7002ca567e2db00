-- flags: no-writes
-- needs: words json rows
-- ARGV: the id before, limit. Executions of all projects by id: id, fields, attempts, what same runs
-- have in common, steps.
local limit, ids = tonumber(ARGV[3]), {}
for _, project in ipairs(redis.call('SMEMBERS', P .. 'projects')) do
  local key, from = P .. 'project:' .. project, '(' .. ARGV[2]
  for _, id in ipairs(redis.call('ZRANGE', key, from, '+', 'BYLEX', 'LIMIT', 0, limit)) do
    ids[#ids + 1] = id
  end
end
table.sort(ids)
for n = #ids, limit + 1, -1 do
  ids[n] = nil
end
fetch(ids)
local answers = {}
for n, id in ipairs(ids) do
  local row, attempts, parts = rows[id], {}, { text(id) }
  for field = PROJECT, HARD do
    parts[field + 1] = text(row[field])
  end
  for number, attempt in ipairs(row[ATTEMPTS] or {}) do
    if number == #row[ATTEMPTS] then
      attempt[A_RESULT] = row[RESULT] -- which is that of the last one
    end
    attempts[number] = list(attempt, A_RESULT)
  end
  parts[#parts + 1] = array(attempts)
  parts[#parts + 1] = text(row[same.UNIQUE])
  parts[#parts + 1] = list(redis.call('HGETALL', P .. 'steps:' .. id))
  answers[n] = array(parts)
end
return array(answers)
