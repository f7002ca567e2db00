-- needs: words json rows
-- ARGV: steps: execution, attempt, name, whether it is final, what is stored of it. A final one
-- begins with 1, and stays as it is. Answers the indexes of those whose attempt is not under way.
local steps, ids, refused = cjson.decode(ARGV[2]), {}, {}
for n, step in ipairs(steps) do
  ids[n] = step[1]
end
fetch(ids)
for n, step in ipairs(steps) do
  local row = rows[step[1]]
  if row and row[STATE] == RUNNING and row[ATTEMPT] == step[2] then
    local key = P .. 'steps:' .. step[1]
    local known = redis.call('HGET', key, step[3])
    if not known or string.sub(known, 1, 1) == '0' then
      redis.call('HSET', key, step[3], (step[4] and '1' or '0') .. step[5])
    end
  else
    refused[#refused + 1] = n - 1
  end
end
return list(refused)
