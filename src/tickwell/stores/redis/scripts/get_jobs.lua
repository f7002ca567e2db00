-- flags: no-writes
-- needs: words json rows catalog
-- ARGV: project, ids or else names. Answers those of the project, in the order given.
local project, found = ARGV[2], {}
for _, key in ipairs(cjson.decode(ARGV[3])) do
  local id = key
  local entry = entry_of(id)
  if not entry or entry[J_PROJECT] ~= project then
    id = redis.call('HGET', P .. 'name', project .. '\0' .. key)
    entry = id and entry_of(id)
  end
  if entry then
    found[#found + 1] = entry_text(id, entry)
  end
end
return array(found)
