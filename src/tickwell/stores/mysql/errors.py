"""Errors of MySQL and MariaDB in our words: what is wrong, where, and what to do next."""

from __future__ import annotations

import re

from asyncmy.errors import MySQLError

from tickwell.errors import (
    StoreCorrupt,
    StoreError,
    StoreFull,
    StoreRefused,
    StoreUnavailable,
)
from tickwell.stores.link import tls_fault

#: What a driver call may raise when something is wrong with the server or the way to it.
DRIVER = (MySQLError, OSError, TimeoutError)

DEADLOCK, LOCK_WAIT, CHANGED = 1213, 1205, 1020
#: The transaction came to nothing because of others: done again from the start, it may pass.
_AGAIN = frozenset({DEADLOCK, LOCK_WAIT, CHANGED})
DUPLICATE = 1062
TOO_LARGE = 1153
#: Too long, out of range, not of its type, no text, no JSON.
_BAD_DATA = frozenset({1264, 1265, 1292, 1366, 1406, 3140, 3141, 4037, 4038, TOO_LARGE})
_REFUSED = {
    1045: "does not accept this user and password; check both in the URL",
    1049: "has no such database; create it, or name another in the URL",
    1130: "does not let this host in; create the user for it",
    1665: "writes its log by statement; set binlog_format = ROW",
    1290: "is read-only, as a replica is; name the primary server",
    1836: "is read-only; name the primary server",
    TOO_LARGE: "takes no value of this size; raise its max_allowed_packet, or make it smaller",
}
_UNAVAILABLE = {
    1040: "has no connection left; raise its max_connections, or lower ?pool=",
    1203: "has no connection left for this user; raise its limit, or lower ?pool=",
    1226: "has no connection left for this user; raise its limit, or lower ?pool=",
    1053: "is shutting down; try again",
    LOCK_WAIT: "kept a row locked for too long; try again, or end the session that holds the lock",
    1969: "took longer than the statement timeout; try again, or raise ?statement_timeout=",
    3024: "took longer than the statement timeout; try again, or raise ?statement_timeout=",
}
_KNOWN: dict[int, tuple[type[StoreError], str]] = {
    **{code: (StoreRefused, words) for code, words in _REFUSED.items()},
    **{code: (StoreUnavailable, words) for code, words in _UNAVAILABLE.items()},
}
#: No space: on disk, in a table, in the tablespace.
_FULL = frozenset({1021, 1114})
#: What a user needs from day to day, and to make the tables and change them.
RIGHTS = "SELECT, INSERT, UPDATE, DELETE"
MAKING_RIGHTS = f"CREATE, ALTER, {RIGHTS}"
_OUTSIDE = re.compile(r"user (\S+) to database '(.+)'")
_NO_RIGHT = frozenset({1044, 1142, 1143, 1227, 1370})
#: An index that a statement names is not there.
_NO_INDEX = 1176
_CORRUPT = frozenset({1034, 1054, 1146, _NO_INDEX, 1194, 1195, 1712, 1877})
#: The connection was ended, or the statement was.
_AWAY = frozenset({1152, 1158, 1159, 1160, 1161, 1184, 1317, 1927})
#: From here on it is the driver that speaks: it lost the server.
_CLIENT = range(2000, 3000)


def code_of(error: BaseException) -> int:
    """The number of the error; 0 when the server did not get to say anything."""
    code = error.args[0] if isinstance(error, MySQLError) and error.args else 0
    return code if isinstance(code, int) else 0


def driver_message(error: BaseException) -> str:
    """The server's sentence."""
    return str(error.args[-1] if isinstance(error, MySQLError) and error.args else error)


def is_undone(error: BaseException) -> bool:
    """Whether the whole transaction is to be done again."""
    return code_of(error) in _AGAIN


def is_bad_data(error: BaseException) -> bool:
    """Whether one of the values given cannot be stored."""
    return code_of(error) in _BAD_DATA


def is_taken(error: BaseException | None) -> bool:
    """Whether somebody else has written what must be there once."""
    return error is not None and code_of(error) == DUPLICATE


def translate(error: BaseException, where: str) -> StoreError:
    """The same in our tree of errors; the caller keeps the cause."""
    code = code_of(error)
    known = _KNOWN.get(code)
    if known is not None:
        return known[0](f"{where} {known[1]}")
    if refusal := _refusal(error, code):
        return StoreRefused(f"{where} {refusal}")
    if code in _FULL or "No space left" in driver_message(error):
        return StoreFull(f"{where} has no space left; free some, and work resumes by itself")
    if code in _CORRUPT:
        return _corrupt(error, where)
    if code in _AGAIN or code in _AWAY or code in _CLIENT or not code:
        return _away(error, where)
    return StoreError(f"{where} reported an error: {driver_message(error)}")


def _refusal(error: BaseException, code: int) -> str | None:
    if code in _NO_RIGHT:
        return f"refuses: {driver_message(error)}; {_remedy(driver_message(error))}"
    return tls_fault(error, "ssl_ca", "ssl=false")


def _corrupt(error: BaseException, where: str) -> StoreCorrupt:
    if code_of(error) == _NO_INDEX:
        return StoreCorrupt(
            f"{where} has lost an index ({driver_message(error)});"
            " tickwell doctor says how to create it again"
        )
    return StoreCorrupt(
        f"the tables of {where} are damaged; restore a backup ({driver_message(error)})"
    )


def _remedy(words: str) -> str:
    outside = _OUTSIDE.search(words)
    if outside is None:
        return "grant this user the right to it"
    return f"as its owner: GRANT {MAKING_RIGHTS} ON `{outside[2]}`.* TO {outside[1]}"


def _away(error: BaseException, where: str) -> StoreUnavailable:
    if isinstance(error, TimeoutError):
        return StoreUnavailable(f"{where} does not answer in time; check the server and network")
    return StoreUnavailable(
        f"{where} does not answer ({driver_message(error)}); check that it runs and can be reached"
    )
