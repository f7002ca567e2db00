-- needs: words json rows indexes flow record same_runs
-- ARGV: executions: id, the fields of its row, its steps as names and what is stored, in turn, and
-- the document of the worker that runs it, or false. One that is there is left alone.
local given, ids, jobs = cjson.decode(ARGV[2]), {}, {}
for n, one in ipairs(given) do
  ids[n], jobs[n] = one[1], one[2][JOB]
end
read('cursor', jobs, entries)
fetch(ids)
for n, id in ipairs(ids) do
  local row, steps, worker = given[n][2], given[n][3], given[n][4]
  if not rows[id] then
    local entry = entry_of(row[JOB])
    row[DEFINITION], row[HARD] = entry[J_VERSION], entry[J_HARD]
    rows[id] = row
    touch(id)
    remember(id, row, entry, 0)
    update_indexes(id, row, true)
    if worker then -- orphans are looked for by worker: one that is not known is lost
      redis.call('HSETNX', P .. 'worker', row[WORKER], '[0,0,1,' .. worker .. ']')
    end
    if row[WAITS] then
      redis.call('ZADD', before_gate(row), row[RANK], id)
    end
    if row[HOLDS_JOB] then
      pass_to(row[JOB], id)
    end
    if row[same.UNIQUE] then
      same.remember(id, row[JOB], row[same.UNIQUE], row[CREATED])
    end
    for at = 1, #steps, 2 do
      redis.call('HSET', P .. 'steps:' .. id, steps[at], steps[at + 1])
    end
  end
end
flush()
tell_pruner()
return 1
