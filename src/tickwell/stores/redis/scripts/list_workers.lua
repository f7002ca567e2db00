-- flags: no-writes
return redis.call('HVALS', P .. 'worker')
