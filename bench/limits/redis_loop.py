"""Claim 500, finish 500, on keys that Tickwell has filled, with nothing but redis-py.

The same rows, indexes and durability as Tickwell's, and the same content in the end: every
execution succeeded, its one attempt on record. Nothing is planned, run, watched or fenced.
`python -m bench.limits.redis_loop URL PREFIX`
"""

import asyncio
import json
import sys
import time

import uvloop
from redis.asyncio import Redis

ROWS = """local P, now, lane = KEYS[1], tonumber(ARGV[1]), 'lane:default\\0call:noop'
local ids = ARGV[2] and cjson.decode(ARGV[2]) or redis.call('ZRANGE', P .. lane, 0, 499)
if #ids == 0 then return '[]' end
local rows, values, live, own, state, answer = {}, {}, {}, {}, {}, {}
for n, packed in ipairs(redis.call('HMGET', P .. 'x', unpack(ids))) do
  local id, row = ids[n], cmsgpack.unpack(packed)
"""
CLAIM = f"""{ROWS}
  row[5], row[13], row[14], row[18], row[35], row[19] = 3, 1, 1, 'bare', 'claim', now + 360000
  values[2 * n - 1], values[2 * n] = id, cmsgpack.pack(row)
  state[2 * n - 1], state[2 * n], own[2 * n - 1], own[2 * n] = 0, id, now + 360000, id
  answer[n] = '["' .. id .. '",' .. row[11] .. ']'
end
redis.call('HSET', P .. 'x', unpack(values))
for _, key in ipairs({{lane, 'state:2:default'}}) do redis.call('ZREM', P .. key, unpack(ids)) end
redis.call('ZADD', P .. 'state:3:default', unpack(state))
redis.call('ZADD', P .. 'own:bare', unpack(own))
return '[' .. table.concat(answer, ',') .. ']'"""
END = f"""{ROWS}
  row[5], row[19], row[21], row[22], row[35] = 5, false, now, now, false
  row[39] = {{ {{ 1, 0, 'bare', now, now, false }} }}
  values[2 * n - 1], values[2 * n], live[n] = id, cmsgpack.pack(row), row[2] .. '\\0' .. id
end
redis.call('HSET', P .. 'x', unpack(values))
for _, key in ipairs({{'own:bare', 'state:3:default'}}) do
  redis.call('ZREM', P .. key, unpack(ids))
end
redis.call('ZREM', P .. 'live', unpack(live))"""


async def drain(url: str, prefix: str) -> dict[str, float]:
    redis = Redis.from_url(url)
    claim, end, keys = redis.register_script(CLAIM), redis.register_script(END), [f"{{{prefix}}}:"]
    done, begin = 0, time.perf_counter()
    while rows := json.loads(await claim(keys, [time.time_ns() // 1_000_000])):
        await end(keys, [time.time_ns() // 1_000_000, json.dumps([id for id, _ in rows])])
        done += len(rows)
    seconds = time.perf_counter() - begin
    await redis.aclose()
    return {"done": done, "seconds": seconds}


if __name__ == "__main__":
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        print(json.dumps(runner.run(drain(*sys.argv[1:3]))))
