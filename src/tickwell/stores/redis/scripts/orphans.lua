-- flags: no-writes
-- needs: words json rows claims left_out
-- ARGV: now, limit, jobs to leave out. Running executions of lost workers, and those past their
-- deadline, by id.
local found, limit, left_out = {}, tonumber(ARGV[3]), set_of(cjson.decode(ARGV[4]))
for _, worker in ipairs(redis.call('HKEYS', P .. 'worker')) do
  local upto = is_alive(worker) and '(' .. ARGV[2] or '+inf'
  for _, id in ipairs(redis.call('ZRANGE', P .. 'own:' .. worker, '-inf', upto, 'BYSCORE')) do
    found[#found + 1] = id
  end
end
table.sort(found)
fetch(found)
local orphans = {}
for _, id in ipairs(found) do
  if #orphans < limit and not left_out[rows[id][JOB]] then
    orphans[#orphans + 1] = id
  end
end
return claims_of(orphans)
