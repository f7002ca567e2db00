-- flags: allow-oom
-- needs: words json rows indexes flow
-- ARGV: now, project, ids. Answers those that were live.
local now, project, ids, live = tonumber(ARGV[2]), ARGV[3], cjson.decode(ARGV[4]), {}
fetch(ids)
for _, id in ipairs(ids) do
  local row = rows[id]
  if row and row[PROJECT] == project and row[STATE] <= PARKED then
    live[#live + 1] = id
  end
end
for _, id in ipairs(live) do
  cancel(id, rows[id], now)
end
flush()
return list(live)
