-- flags: no-writes
-- ARGV: field.
return redis.call('HGET', P .. 'record', ARGV[2])
