"""Copies of the jobs of a prefix, made by the server."""

from redis.asyncio import Redis

#: Job n is a copy of job n modulo the number of templates, with an id and a name of its own.
#: The places of what differs in a packed cursor: scripts/shared/words.lua.
COPY = """
local P, begin, upto, templates = KEYS[1], tonumber(ARGV[1]), tonumber(ARGV[2]), tonumber(ARGV[3])
local NEXT, PROJECT, NAME = 3, 11, 12
local function replaced(text, old, new)
  local from, upto = string.find(text, old, 1, true)
  return string.sub(text, 1, from - 1) .. new .. string.sub(text, upto + 1)
end
for n = begin, upto do
  local old = redis.call('LINDEX', P .. 'templates', n % templates)
  local id, name = string.sub(old, 1, 24) .. string.format('%012x', n), 'job-' .. n
  local row = cmsgpack.unpack(redis.call('HGET', P .. 'cursor', old))
  local document = replaced(redis.call('HGET', P .. 'job', old), old, id)
  document = replaced(document, '"' .. row[NAME] .. '"', '"' .. name .. '"')
  row[NAME] = name
  redis.call('HSET', P .. 'job', id, document)
  redis.call('HSET', P .. 'cursor', id, cmsgpack.pack(row))
  redis.call('HSET', P .. 'name', row[PROJECT] .. '\\0' .. name, id)
  redis.call('ZADD', P .. 'jobs', 0, row[PROJECT] .. '\\0' .. name .. '\\0' .. id)
  redis.call('ZADD', P .. 'fire', row[NEXT], id)
end"""
#: Copies that one script makes.
TOGETHER = 10_000


async def copy_jobs(url: str, prefix: str, templates: int, count: int) -> None:
    """Until there are so many."""
    redis, keys = Redis.from_url(url), f"{{{prefix}}}:"
    ids = sorted(await redis.hkeys(f"{keys}job"))
    await redis.rpush(f"{keys}templates", *ids)
    copy = redis.register_script(COPY)
    for begin in range(templates, count, TOGETHER):
        await copy([keys], [begin, min(begin + TOGETHER, count) - 1, templates])
    await redis.delete(f"{keys}templates")
    await redis.aclose()
