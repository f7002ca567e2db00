"""What is done to a whole schema: `python -m bench.schema URL SCHEMA drop|tidy`."""

import asyncio
import json
import sys

import asyncpg


async def do(url: str, schema: str, what: str) -> None:
    """Take it away; or have the server find out what is in it, and write all of it out."""
    connection = await asyncpg.connect(url)
    if what == "drop":
        await connection.execute(f'DROP SCHEMA IF EXISTS "{schema}" CASCADE')
    else:
        for (name,) in await connection.fetch(
            "SELECT tablename FROM pg_tables WHERE schemaname = $1", schema
        ):
            await connection.execute(f'VACUUM ANALYZE "{schema}".{name}')
    await connection.execute("CHECKPOINT")
    await connection.close()


if __name__ == "__main__":
    asyncio.run(do(*sys.argv[1:4]))
    print(json.dumps({}))
