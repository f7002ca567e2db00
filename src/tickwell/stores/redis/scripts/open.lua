-- flags: allow-oom
-- The epoch of this store, made with the first start on an empty database. The one script that
-- does not compare it. ARGV: the epoch to write.
redis.call('SETNX', KEYS[1], ARGV[1])
return redis.call('GET', KEYS[1])
