-- flags: no-writes
-- ARGV: job, until. Range skips that begin before that instant.
return redis.call('ZRANGE', P .. 'skips:' .. ARGV[2], '-inf', '(' .. ARGV[3], 'BYSCORE')
