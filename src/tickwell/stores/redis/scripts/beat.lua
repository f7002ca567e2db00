-- flags: allow-oom
-- needs: words json rows
-- ARGV: now, worker, its document, whether it leaves. Answers the beat, whether the worker is
-- lost, and what it owns: id, attempt, claim id, is to be cancelled, why.
local now, worker, document = ARGV[2], ARGV[3], ARGV[4]
local known = redis.call('HGET', P .. 'worker', worker)
local beat, lost = string.match(known or '[0,0,0,', '^%[(%d+),%d+,(%d),')
local owned = redis.call('ZRANGE', P .. 'own:' .. worker, 0, -1)
table.sort(owned)
fetch(owned)
for n, id in ipairs(owned) do
  local row = rows[id]
  owned[n] = list({ id, row[ATTEMPT], row[CLAIM] or '', row[CANCEL], row[REASON] or false })
end
if ARGV[5] == '1' and #owned == 0 then
  redis.call('HDEL', P .. 'worker', worker)
else
  local noted = '[' .. (beat + 1) .. ',' .. now .. ',' .. lost .. ',' .. document .. ']'
  redis.call('HSET', P .. 'worker', worker, noted)
end
return { beat + 1, tonumber(lost), array(owned) }
