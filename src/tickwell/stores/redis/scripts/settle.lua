-- flags: allow-oom
-- needs: words json rows indexes flow
-- ARGV: now, ids, states, state to move to, reason. Answers the ids that were moved.
local now, ids, states = tonumber(ARGV[2]), cjson.decode(ARGV[3]), {}
local to, reason, answers = tonumber(ARGV[5]), ARGV[6], {}
for _, state in ipairs(cjson.decode(ARGV[4])) do
  states[state] = true
end
fetch(ids)
-- Chosen before any moves: one that ends may let another of them into the queue.
local chosen = {}
for _, id in ipairs(ids) do
  local row = rows[id]
  if row and states[row[STATE]] and not chosen[id] then
    chosen[id] = true
    answers[#answers + 1] = id
  end
end
for _, id in ipairs(answers) do
  local row = rows[id]
  if to <= PARKED then
    row[REASON] = to == PARKED and reason
    leave(id, row, to, now)
  else
    conclude(id, row, to, reason, now)
  end
end
flush()
return list(answers)
