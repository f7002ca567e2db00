-- flags: no-writes
-- needs: words json rows
-- One stretch of the list of jobs. ARGV: where it begins, how many to look at, project or empty
-- for all. Answers where the next one begins, 0 at the end, and how many are in each state.
local from, count, project = tonumber(ARGV[2]), tonumber(ARGV[3]), ARGV[4]
local counts, ids = { 0, 0, 0, 0 }, {}
for n, member in ipairs(redis.call('ZRANGE', P .. 'jobs', from, from + count - 1)) do
  ids[n] = string.match(member, '^.*%z(.*)$')
end
read('cursor', ids, entries)
for _, id in ipairs(ids) do
  local entry = entries[id]
  if project == '' or entry[J_PROJECT] == project then
    counts[entry[J_STATE] + 1] = counts[entry[J_STATE] + 1] + 1
  end
end
return list({ #ids == count and from + count or 0, unpack(counts) })
