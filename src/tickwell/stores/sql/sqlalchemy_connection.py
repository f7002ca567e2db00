"""Connections and sessions of SQLAlchemy, known by what they can do: it is not imported here."""

from __future__ import annotations

from inspect import iscoroutinefunction
from typing import Any

from tickwell.errors import InvalidInput

#: Has SQLAlchemy begin its transaction, as the first statement of a caller would.
_TOUCH = "SELECT 1"


def driver_of(connection: Any) -> Any:
    """The driver's connection, with the transaction begun; what is not SQLAlchemy's is itself."""
    if _must_be_awaited(connection):
        raise InvalidInput(
            f"{type(connection).__name__} has to be awaited",
            field="connection",
            hint="Use await scheduler.transactions.trigger_async(…)",
        )
    if _is_session(connection):
        connection = connection.connection()
    if not _is_connection(connection):
        return connection
    connection.exec_driver_sql(_TOUCH)
    return connection.connection.driver_connection


async def driver_of_async(connection: Any) -> Any:
    """The same for what may have to be awaited."""
    if not _must_be_awaited(connection):
        return driver_of(connection)
    if _is_session(connection):
        connection = await connection.connection()
    await connection.exec_driver_sql(_TOUCH)
    return (await connection.get_raw_connection()).driver_connection


def _is_session(connection: Any) -> bool:
    return hasattr(connection, "get_bind") and hasattr(connection, "connection")


def _is_connection(connection: Any) -> bool:
    return hasattr(connection, "exec_driver_sql")


def _must_be_awaited(connection: Any) -> bool:
    if _is_session(connection):
        return iscoroutinefunction(connection.connection)
    return _is_connection(connection) and iscoroutinefunction(connection.exec_driver_sql)
