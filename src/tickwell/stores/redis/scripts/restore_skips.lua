-- needs: words json rows indexes flow record
-- ARGV: job, skips. Nothing is written where the job has some.
if redis.call('EXISTS', P .. 'skips:' .. ARGV[2]) == 0 then
  record_skips(ARGV[2], cjson.decode(ARGV[3]))
end
return 1
