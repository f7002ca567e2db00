"""Inserts the rows of jobs that Tickwell has added, from arrays, with nothing but asyncpg.

The same tables, indexes and batches: `python -m bench.limits.postgres_insert URL FROM INTO`.
"""

import asyncio
import json
import sys
import time

import asyncpg
import uvloop

from bench.ours.postgres_copies import columns_of

BATCH = 1000


async def insert(url: str, source: str, target: str) -> dict[str, float]:
    connection = await asyncpg.connect(url)
    statements, rows = {}, {}
    for table in ("job", "cursor"):
        types = await columns_of(connection, source, table)
        # An array of arrays cannot be ragged, and there are no tags.
        named = {name: kind for name, kind in types.items() if not kind.endswith("[]")}
        columns = ", ".join([*named, *(types.keys() - named)])
        places = ", ".join(f"${n}::{kind}[]" for n, kind in enumerate(named.values(), 1))
        empty = ", '{}'" * (len(types) - len(named))
        statements[table] = (
            f"INSERT INTO {target}.{table} ({columns}) SELECT each.*{empty}"
            f" FROM unnest({places}) AS each"
        )
        found = await connection.fetch(f"SELECT {', '.join(named)} FROM {source}.{table}")
        rows[table] = [tuple(row) for row in found]
    count, begin = len(rows["job"]), time.perf_counter()
    for first in range(0, count, BATCH):
        async with connection.transaction():
            for table, statement in statements.items():
                batch = zip(*rows[table][first : first + BATCH], strict=True)
                await connection.execute(statement, *map(list, batch))
    seconds = time.perf_counter() - begin
    await connection.close()
    return {"seconds": seconds, "count": count}


if __name__ == "__main__":
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        print(json.dumps(runner.run(insert(*sys.argv[1:4]))))
