-- flags: no-writes
-- needs: words
-- ARGV: project, or empty for all. Answers how many executions are in each state, by code.
local counts = { 0, 0, 0, 0, 0, 0, 0, 0, 0 }
local projects = ARGV[2] ~= '' and { ARGV[2] } or redis.call('SMEMBERS', P .. 'projects')
for _, project in ipairs(projects) do
  local succeeded = redis.call('ZCARD', P .. 'project:' .. project)
  for state = WAITING, SKIPPED do
    if state ~= SUCCEEDED then
      local count = redis.call('ZCARD', P .. 'state:' .. state .. ':' .. project)
      counts[state + 1] = counts[state + 1] + count
      succeeded = succeeded - count
    end
  end
  counts[SUCCEEDED + 1] = counts[SUCCEEDED + 1] + succeeded
end
return counts
