-- needs: words json rows lanes left_out
-- ARGV: now, lead, limit, queues, abilities. Answers id, queue and rank of each, in one list.
local now = tonumber(ARGV[2])
local queues, abilities = cjson.decode(ARGV[5]), set_of(cjson.decode(ARGV[6]))
local pick = picker(queues, abilities, now, now + tonumber(ARGV[3]))
local picked, keys, ranks = pick(tonumber(ARGV[4]))
local found = {}
for n, id in ipairs(picked) do
  local queue = string.match(keys[n], '^lane:(.-)%z')
  found[n] = string.format('["%s",%s,%.0f]', id, text(queue), ranks[n])
end
return array(found)
