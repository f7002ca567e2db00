"""Errors of Redis as errors of Tickwell: what is wrong, where, and what to do next."""

from __future__ import annotations

from redis import exceptions

from tickwell.errors import (
    StoreCorrupt,
    StoreError,
    StoreFull,
    StoreLost,
    StoreRefused,
    StoreUnavailable,
)
from tickwell.stores.link import tls_fault

#: What a driver call may raise when something is wrong with the server or the network.
DRIVER = (exceptions.RedisError, OSError, TimeoutError)

#: By the first word of the server's reply, or the driver's class.
_REFUSED = {
    "NOAUTH": "wants a password; put it into the URL: redis://:password@host:6379/0",
    "WRONGPASS": "does not accept the password; check user and password in the URL",
    "NOPERM": "refuses: {driver_message}; grant this user the commands and keys of Tickwell",
    "READONLY": "is a read-only replica; name the primary server",
    "MOVED": "is a cluster node; name a standalone server: all keys have to be in one hash slot",
    "WRONGTYPE": "holds another program's key under a name of Tickwell's; set another ?prefix=",
    "DENIED": "refuses: {driver_message}",
    "DB": "has no database of this number; name another in the URL",
}
_UNAVAILABLE = {
    "LOADING": "is reading its data after a start; try again",
    "BUSY": "is busy with a script; try again",
    "MASTERDOWN": "has lost its primary; try again",
    "MISCONF": "cannot write to its disk; free some space there ({driver_message})",
    "NOREPLICAS": "has too few replicas to write; try again ({driver_message})",
    "UNKILLABLE": "is busy with a script; try again",
}
_FULL = (
    "has reached its maxmemory; raise it, or let history be pruned sooner: what is on record runs"
    " on, nothing new is recorded until then"
)
_KNOWN: dict[str, tuple[type[StoreError], str]] = {
    **{word: (StoreRefused, words) for word, words in _REFUSED.items()},
    **{word: (StoreUnavailable, words) for word, words in _UNAVAILABLE.items()},
    "OOM": (StoreFull, _FULL),
}


def driver_message(error: BaseException) -> str:
    """The server's message, in one line."""
    return " ".join(str(error).split())


def is_lost(error: BaseException) -> bool:
    """Whether a script did not find the expected epoch."""
    return str(error).startswith("TICKWELL_LOST")


def _word(error: BaseException) -> str:
    """The server's error code, which the driver removes from messages that it knows."""
    text = str(error)
    word = text.split(" ", 1)[0].rstrip(":")
    if isinstance(error, exceptions.ReadOnlyError):
        return "READONLY"
    if isinstance(error, exceptions.BusyLoadingError):
        return "LOADING"
    if isinstance(error, exceptions.OutOfMemoryError) or "OOM command not allowed" in text:
        return "OOM"
    if isinstance(error, exceptions.NoPermissionError):
        return "NOPERM"
    if isinstance(error, exceptions.AuthenticationError):
        return "NOAUTH" if "required" in text else "WRONGPASS"
    return word


def translate(error: BaseException, where: str) -> StoreError:
    """A driver's error as one of Tickwell's; the caller keeps the cause."""
    word = _word(error)
    if is_lost(error):
        return lost(where)
    if word in _KNOWN:
        kind, words = _KNOWN[word]
        return kind(f"{where} {words.format(driver_message=driver_message(error))}")
    if fault := tls_fault(error, "ssl_ca_certs", "redis://"):
        return StoreRefused(f"{where} {fault}")
    if isinstance(error, exceptions.ConnectionError | exceptions.TimeoutError | OSError):
        return _away(error, where)
    if "Bad data format" in str(error):
        return StoreCorrupt(
            f"a row of {where} is damaged; restore a backup ({driver_message(error)})"
        )
    return StoreError(f"{where} reported an error: {driver_message(error)}")


def lost(where: str) -> StoreLost:
    """The database was emptied, or replaced by another, while the store was open."""
    return StoreLost(
        f"{where} is no longer the same store: its epoch is gone, so it was flushed, restored or"
        " replaced; restore a backup, or restart all processes to continue with its present content"
    )


def _away(error: BaseException, where: str) -> StoreUnavailable:
    if isinstance(error, exceptions.TimeoutError | TimeoutError):
        # A Redis without TLS waits for the end of a command when it is offered a handshake.
        tls = " or, if it has no TLS, use redis://" if where.startswith("rediss:") else ""
        return StoreUnavailable(
            f"{where} does not answer in time; check the server and network{tls}"
        )
    return StoreUnavailable(
        f"{where} does not answer ({driver_message(error)}); check that it runs and can be reached"
    )
