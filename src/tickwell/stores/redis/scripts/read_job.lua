-- flags: no-writes
-- needs: words json rows indexes catalog
-- A job to be changed, with what of it is pending before or in a concurrency gate: id, gate,
-- payload. ARGV: id, project.
local id = ARGV[2]
local entry = entry_of(id)
if not entry or entry[J_PROJECT] ~= ARGV[3] then
  return false
end
local gated, live = {}, of_job('live', id)
fetch(live)
for _, one in ipairs(live) do
  local row = rows[one]
  if row[GATE] and row[STATE] ~= RUNNING then
    gated[#gated + 1] = list({ one, row[GATE], row[PAYLOAD] })
  end
end
return { entry_text(id, entry), array(gated) }
