-- needs: words json rows indexes flow record
-- Plans of jobs, each written if its job did not move since it was read. ARGV: now, horizon, plans:
-- job, moves, cursor, executions, skips, release at. Answers how many each recorded, -1: it moved; and what
-- ended.
local now, horizon, plans = tonumber(ARGV[2]), tonumber(ARGV[3]), cjson.decode(ARGV[4])
local jobs, ids, answers = {}, {}, {}
for n, plan in ipairs(plans) do
  jobs[n] = plan[1]
  for _, new in ipairs(plan[4]) do
    ids[#ids + 1] = new[N_ID]
  end
end
read('cursor', jobs, entries)
fetch(ids)
fetch_holders(jobs)
ended = {}
for n, plan in ipairs(plans) do
  local job, entry = plan[1], entries[plan[1]]
  if entry and entry[J_MOVES] == plan[2] then
    for field, value in ipairs(plan[3]) do
      entry[field + 1] = value
    end
    moves(job)
    answers[n] = record_plan(job, plan[4], plan[5], now, horizon)
    if plan[6] then
      release(job, math.max(now, plan[6]))
    end
  else
    answers[n] = -1
  end
end
flush()
tell_pruner()
return array({ list(answers), pairs_of(ended) })
