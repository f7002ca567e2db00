-- flags: allow-oom
-- needs: words json rows indexes forgetting
-- ARGV: now, project, ids. Deletes those that are dead, and answers which.
local project, ids, dead = ARGV[3], cjson.decode(ARGV[4]), {}
fetch(ids)
for _, id in ipairs(ids) do
  local row = rows[id]
  if row and row[PROJECT] == project and row[STATE] == DEAD then
    dead[#dead + 1] = id
  end
end
forget_rows(dead)
return list(dead)
