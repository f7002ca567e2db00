-- flags: allow-oom
-- ARGV: field. Answers whether it was there.
redis.call('ZREM', P .. 'records', ARGV[2])
redis.call('ZREM', P .. 'expiring', ARGV[2])
return redis.call('HDEL', P .. 'record', ARGV[2])
