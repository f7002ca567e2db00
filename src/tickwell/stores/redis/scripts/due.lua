-- flags: no-writes
-- needs: words json rows left_out
-- Jobs to be looked at, oldest first. ARGV: end, limit, jobs to leave out.
local limit, jobs = tonumber(ARGV[3]), cjson.decode(ARGV[4])
local left_out, due = set_of(jobs), {}
local found = redis.call('ZRANGE', P .. 'fire', '-inf', ARGV[2], 'BYSCORE',
  'LIMIT', 0, limit + #jobs)
read('cursor', found, entries)
for _, id in ipairs(found) do
  if #due < limit and not left_out[id] then
    due[#due + 1] = array({ text(id), list(entries[id], J_VERSION) })
  end
end
return array(due)
