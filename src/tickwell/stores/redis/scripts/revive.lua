-- needs: words json rows indexes flow
-- ARGV: now, project, ids. Answers those that were dead and wait again.
local now, project, ids, dead = tonumber(ARGV[2]), ARGV[3], cjson.decode(ARGV[4]), {}
fetch(ids)
for _, id in ipairs(ids) do
  local row = rows[id]
  if row and row[PROJECT] == project and row[STATE] == DEAD
    and entry_of(row[JOB])[J_STATE] ~= DELETED then
    dead[#dead + 1] = id
  end
end
for _, id in ipairs(dead) do
  local row = rows[id]
  local entry = entries[row[JOB]]
  lift(id, row)
  row[CHARGED], row[LOST], row[RETURNED] = 0, 0, 0
  row[ENDED], row[REASON], row[WORKER] = false, false, false
  row[RUN_AT], row[LOOK_AT], row[RANK] = now, now, now - entry[J_PRIORITY] * HEAD_START
  row[EXPIRES] = false
  row[DEFINITION], row[HARD] = entry[J_VERSION], entry[J_HARD]
  if row[OVERLAP] ~= ALLOW then
    -- A person asked for it: it waits its turn instead of being skipped again.
    row[OVERLAP] = QUEUE_ALL
  end
  if row[same.UNIQUE] then
    redis.call('SADD', P .. 'same_live:' .. row[JOB] .. '\0' .. row[same.UNIQUE], id)
  end
  admit(id, row, now, 0)
end
flush()
return list(dead)
