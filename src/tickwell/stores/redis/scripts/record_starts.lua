-- flags: allow-oom
-- needs: words json rows indexes flow
-- ARGV: ids, attempts, instants. Answers the ids of those that are still under way, and whether
-- somebody should look.
local ids, attempts, instants = cjson.decode(ARGV[2]), cjson.decode(ARGV[3]), cjson.decode(ARGV[4])
local written = {}
fetch(ids)
for n, id in ipairs(ids) do
  local row = rows[id]
  if row and row[STATE] == RUNNING and row[ATTEMPT] == attempts[n] then
    row[STARTED] = instants[n]
    touch(id)
    if row[HOLDS_KEY] and permits.are_of_rate(row[GATE]) then
      permits.back_at[id] = instants[n] + permits.period_of(row[GATE])
      permits.give_way(id, row, instants[n])
    end
    written[#written + 1] = id
  end
end
flush()
return { list(written), stirred and 1 or 0 }
