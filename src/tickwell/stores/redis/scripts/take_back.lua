-- flags: allow-oom
-- needs: words json rows indexes
-- What a claim took just now goes back to where it was: nobody knows of these attempts yet.
-- ARGV: worker, ids.
local ids = cjson.decode(ARGV[3])
fetch(ids)
for _, id in ipairs(ids) do
  local row = rows[id]
  if row and row[STATE] == RUNNING and row[WORKER] == ARGV[2] and not row[CANCEL] then
    lift(id, row)
    row[ATTEMPT], row[CHARGED] = row[ATTEMPT] - 1, row[CHARGED] - 1
    row[WORKER], row[DEADLINE], row[CLAIM] = false, false, false
    move(id, row, QUEUED)
  end
end
flush()
return 1
