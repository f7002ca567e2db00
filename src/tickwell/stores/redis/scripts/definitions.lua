-- flags: no-writes
-- ARGV: ids. The documents of jobs, in the order given.
return redis.call('HMGET', P .. 'job', unpack(cjson.decode(ARGV[2])))
