"""Takes a schema away: `python -m bench.drop_schema URL SCHEMA`."""

import asyncio
import json
import sys

import asyncpg


async def drop(url: str, schema: str) -> None:
    connection = await asyncpg.connect(url)
    await connection.execute(f'DROP SCHEMA IF EXISTS "{schema}" CASCADE')
    await connection.execute("CHECKPOINT")
    await connection.close()


if __name__ == "__main__":
    asyncio.run(drop(*sys.argv[1:3]))
    print(json.dumps({}))
