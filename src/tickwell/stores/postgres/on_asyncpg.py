"""Connections of asyncpg, from a pool or not."""

from __future__ import annotations

from typing import Any

from tickwell.errors import InvalidInput
from tickwell.stores.postgres.requesting import Steps


def is_one(connection: Any) -> bool:
    """Whether this is a connection of asyncpg."""
    return hasattr(connection, "is_in_transaction") and hasattr(connection, "fetchrow")


async def run_async(connection: Any, steps: Steps) -> str:
    """Run the steps in the transaction that is open."""
    if not connection.is_in_transaction():
        raise InvalidInput(
            "no transaction is open",
            field="connection",
            hint="Call it inside async with connection.transaction()",
        )
    try:
        statement, parameters = next(steps)
        while True:
            rows = [tuple(row) for row in await connection.fetch(statement, *parameters)]
            statement, parameters = steps.send(rows)
    except StopIteration as end:
        return str(end.value)
