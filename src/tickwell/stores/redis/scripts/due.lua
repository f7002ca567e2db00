-- flags: no-writes
-- needs: words json rows left_out
-- Jobs to be looked at, oldest first. ARGV: end, limit, jobs to leave out.
local ROW = '["%s",[%d,%d,%d,%d,%d,%d,%s,%s,%s,%d]]'
local limit, jobs = tonumber(ARGV[3]), cjson.decode(ARGV[4])
local left_out, due = set_of(jobs), {}
local found = redis.call('ZRANGE', P .. 'fire', '-inf', ARGV[2], 'BYSCORE',
  'LIMIT', 0, limit + #jobs)
read('cursor', found, entries)
for _, id in ipairs(found) do
  if #due < limit and not left_out[id] then
    local entry = entries[id]
    due[#due + 1] = string.format(ROW, id, entry[J_MOVES], entry[J_STATE], entry[J_NEXT],
      entry[J_AFTER], entry[J_RUNS], entry[J_FAILURES], text(entry[J_NUDGED]),
      text(entry[J_THROUGH]), text(entry[J_PAUSE]), entry[J_VERSION])
  end
end
return array(due)
