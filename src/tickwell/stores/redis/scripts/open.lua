-- flags: allow-oom
-- The epoch of this store, made with the first start on an empty database. The one script that
-- does not compare it. ARGV: the epoch to write, "make" to write it where there is none.
if ARGV[2] == 'make' then
  redis.call('SETNX', KEYS[1], ARGV[1])
end
return redis.call('GET', KEYS[1])
