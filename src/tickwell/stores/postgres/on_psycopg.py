"""Connections of psycopg 3, to be awaited or not. It is imported only where one is at hand."""

from __future__ import annotations

from importlib import import_module
from inspect import iscoroutinefunction
from typing import Any

from tickwell.errors import InvalidInput
from tickwell.stores.postgres.requesting import Steps

_IDLE = 0


def is_one(connection: Any) -> bool:
    """Whether this is a connection of psycopg 3."""
    return hasattr(connection, "pgconn") and hasattr(connection, "autocommit")


def must_be_awaited(connection: Any) -> bool:
    """Whether it is an asynchronous one."""
    return iscoroutinefunction(connection.commit)


def run(connection: Any, steps: Steps) -> str:
    """Run the steps in the transaction that is open, or that the driver opens by itself."""
    _check(connection)
    with _cursor("RawCursor", connection) as cursor:
        try:
            statement, parameters = next(steps)
            while True:
                rows = cursor.execute(statement, parameters).fetchall()
                statement, parameters = steps.send(rows)
        except StopIteration as end:
            return str(end.value)


async def run_async(connection: Any, steps: Steps) -> str:
    """The same, awaited."""
    _check(connection)
    async with _cursor("AsyncRawCursor", connection) as cursor:
        try:
            statement, parameters = next(steps)
            while True:
                await cursor.execute(statement, parameters)
                statement, parameters = steps.send(await cursor.fetchall())
        except StopIteration as end:
            return str(end.value)


def _cursor(kind: str, connection: Any) -> Any:
    """One that takes the numbered parameters of our statements, and answers with tuples."""
    tuples = import_module("psycopg.rows").tuple_row
    return getattr(import_module("psycopg"), kind)(connection, row_factory=tuples)


def _check(connection: Any) -> None:
    if connection.autocommit and connection.info.transaction_status == _IDLE:
        raise InvalidInput(
            "no transaction is open",
            field="connection",
            hint="Call it inside with connection.transaction()",
        )
