-- flags: no-writes
-- The server's time, in milliseconds.
local time = redis.call('TIME')
return string.format('%d', time[1] * 1000 + math.floor(time[2] / 1000))
