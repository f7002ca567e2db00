-- flags: no-writes
-- needs: words json rows
-- ARGV: project, id. Names and what is stored of each, in turn.
local row = row_of(ARGV[3])
if not row or row[PROJECT] ~= ARGV[2] then
  return {}
end
return redis.call('HGETALL', P .. 'steps:' .. ARGV[3])
