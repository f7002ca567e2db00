-- flags: allow-oom
-- needs: words json rows
-- ARGV: ids, attempts, instants. Answers the ids of those that are still under way.
local ids, attempts, instants = cjson.decode(ARGV[2]), cjson.decode(ARGV[3]), cjson.decode(ARGV[4])
local written = {}
fetch(ids)
for n, id in ipairs(ids) do
  local row = rows[id]
  if row and row[STATE] == RUNNING and row[ATTEMPT] == attempts[n] then
    row[STARTED] = instants[n]
    touch(id)
    written[#written + 1] = id
  end
end
flush()
return list(written)
