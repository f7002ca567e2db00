-- needs: words json rows indexes flow record same_runs
-- ARGV: now, horizon, executions. All or none: answers the place of the first whose job is gone,
-- or the ids, those that exist already included.
local now, horizon, given = tonumber(ARGV[2]), tonumber(ARGV[3]), cjson.decode(ARGV[4])
local jobs, ids, answers = {}, {}, {}
for n, new in ipairs(given) do
  ids[n], jobs[n] = new[N_ID], new[N_JOB]
end
read('cursor', jobs, entries)
fetch(ids)
for n, job in ipairs(jobs) do
  if not entries[job] or entries[job][J_STATE] == DELETED then
    return text(n - 1)
  end
end
for n, new in ipairs(given) do
  local job, key = new[N_JOB], new[N_KEY]
  answers[n] = key and redis.call('HGET', P .. 'keys', job .. '\0' .. key) or new[N_ID]
  if answers[n] == new[N_ID] and new[same.RULE] and not row_of(new[N_ID]) then
    answers[n] = same.find(new, now) or new[N_ID]
    if answers[n] ~= new[N_ID] and new[same.RULE][same.DEBOUNCED] then
      same.replace(answers[n], new, now, horizon)
    elseif answers[n] == new[N_ID] then
      same.remember(new[N_ID], job, new[same.RULE][same.NAME], now)
    end
  end
  if answers[n] == new[N_ID] and is_new(new) then
    if new[N_KIND] == FIRE and entries[job][J_MAX_RUNS] then
      entries[job][J_RUNS] = entries[job][J_RUNS] + 1
      moves(job)
    end
    record(new, now, horizon)
  end
end
flush()
tell_pruner()
return list(answers)
