"""Errors of MongoDB as errors of Tickwell: what is wrong, where, and what to do next."""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from functools import wraps
from typing import Any, Concatenate, ParamSpec, Protocol, TypeVar

from bson.errors import BSONError
from pymongo.errors import (
    AutoReconnect,
    BulkWriteError,
    ConfigurationError,
    ConnectionFailure,
    DocumentTooLarge,
    NetworkTimeout,
    OperationFailure,
    PyMongoError,
    ServerSelectionTimeoutError,
    WTimeoutError,
)

from tickwell.errors import StoreCorrupt, StoreError, StoreFull, StoreRefused, StoreUnavailable
from tickwell.stores.link import tls_fault

#: What a driver call may raise when something is wrong with the server or the network.
DRIVER = (PyMongoError, BSONError, OverflowError)

DUPLICATE = 11000
_SMALLER = "takes no document of more than 16 MB; make the payload, the result or the batch smaller"
_KNOWN: tuple[tuple[set[int], type[StoreError], str], ...] = (
    (
        {18, 8000},
        StoreRefused,
        "does not accept the password; check user, password and authSource in the URL",
    ),
    ({10334, 17280, 17419, 17420}, StoreRefused, _SMALLER),
    ({28, 14031}, StoreFull, "has no space left; free some, and work resumes by itself"),
)
NO_RIGHT = 13
#: Shutting down, starting up, stepping down, interrupted, or out of time.
_AWAY = {6, 7, 50, 64, 89, 91, 100, 189, 262, 9001, 10107, 11600, 11602, 13388, 13435, 13436}


class Named(Protocol):
    """A store or one of its parts: its name appears in messages."""

    name: str


S = TypeVar("S", bound=Named)
P = ParamSpec("P")
T = TypeVar("T")


def translate_errors(
    method: Callable[Concatenate[S, P], Coroutine[Any, Any, T]],
) -> Callable[Concatenate[S, P], Coroutine[Any, Any, T]]:
    """Make a method raise errors of Tickwell instead of the driver's, which stay their cause."""

    @wraps(method)
    async def translated(self: S, /, *args: P.args, **options: P.kwargs) -> T:
        try:
            return await method(self, *args, **options)
        except DRIVER as error:
            raise translate(error, self.name) from error

    return translated


def codes_of(error: BaseException) -> set[int]:
    """The server's numbers for what went wrong; none when it did not get to say anything."""
    if isinstance(error, BulkWriteError):
        details = error.details
        each = [*details.get("writeErrors", ()), *details.get("writeConcernErrors", ())]
        return {int(one.get("code", 0)) for one in each}
    code = getattr(error, "code", None)
    return {code} if isinstance(code, int) else set()


def is_duplicate(error: BaseException) -> bool:
    """Whether the only error is that a document exists already."""
    return codes_of(error) == {DUPLICATE}


def translate(error: BaseException, where: str) -> StoreError:
    """A driver's error as one of Tickwell's; the caller keeps the cause."""
    codes = codes_of(error)
    for known, kind, words in _KNOWN:
        if codes & known:
            return kind(f"{where} {words}")
    if refusal := _refusal(error, codes, where):
        return StoreRefused(f"{where} {refusal}")
    if _is_away(error, codes):
        return _away(error, where)
    if isinstance(error, BSONError):
        return StoreCorrupt(f"a document in {where} cannot be read; restore a backup ({error})")
    return StoreError(f"{where} reported an error: {_driver_message(error)}")


def _refusal(error: BaseException, codes: set[int], where: str) -> str | None:
    if NO_RIGHT in codes:
        return f"refuses: {_driver_message(error)}; grant this user readWrite on the database"
    if isinstance(error, DocumentTooLarge):
        return _SMALLER
    if isinstance(error, ConfigurationError) and where.startswith("mongodb+srv:"):
        return (
            f"cannot be used ({_driver_message(error).rstrip('.')});"
            " mongodb+srv:// names a domain whose SRV records list the servers,"
            " mongodb://host:27017 names the servers themselves"
        )
    return tls_fault(error, "tlsCAFile", "tls=false")


def _is_away(error: BaseException, codes: set[int]) -> bool:
    gone = (ConnectionFailure, AutoReconnect, WTimeoutError)
    if isinstance(error, gone) or codes & _AWAY:
        return True
    return isinstance(error, PyMongoError) and error.has_error_label("RetryableWriteError")


def _away(error: BaseException, where: str) -> StoreUnavailable:
    if isinstance(error, NetworkTimeout):
        return StoreUnavailable(f"{where} does not answer in time; check the server and network")
    if isinstance(error, ServerSelectionTimeoutError) and "replica set" in str(error).lower():
        return StoreUnavailable(
            f"{where} has no primary ({_driver_message(error)}); wait for an election"
        )
    return StoreUnavailable(
        f"{where} does not answer ({_driver_message(error)}); check that it runs and can be reached"
    )


def _driver_message(error: BaseException) -> str:
    """The first sentence, without the description of the topology."""
    if isinstance(error, BulkWriteError):
        first = [
            *error.details.get("writeErrors", ()),
            *error.details.get("writeConcernErrors", ()),
        ]
        return str(first[0].get("errmsg", "")) if first else "some writes failed"
    if isinstance(error, OperationFailure) and error.details:
        return str(error.details.get("errmsg", error))
    return str(error).partition(", Timeout:")[0].partition(" (configured timeouts")[0]
