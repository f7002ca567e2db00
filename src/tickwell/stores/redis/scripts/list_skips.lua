-- flags: no-writes
-- needs: json
-- ARGV: ranges: job, first, last. Answers for each the range skips of the job that touch it.
local answers = {}
for n, range in ipairs(cjson.decode(ARGV[2])) do
  local found = {}
  local begun = redis.call('ZRANGE', P .. 'skips:' .. range[1], '-inf', range[3], 'BYSCORE')
  for _, skip in ipairs(begun) do
    if cjson.decode(skip)[2] >= range[2] then
      found[#found + 1] = skip
    end
  end
  answers[n] = array(found)
end
return array(answers)
