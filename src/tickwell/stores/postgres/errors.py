"""Errors of PostgreSQL in our words: what is wrong, where, and what to do next."""

from __future__ import annotations

import re
from ssl import SSLCertVerificationError, SSLError

import asyncpg

from tickwell.errors import (
    StoreCorrupt,
    StoreError,
    StoreFull,
    StoreRefused,
    StoreUnavailable,
)
from tickwell.stores.link import unaccepted

#: What a driver call may raise when something is wrong with the server or the way to it.
DRIVER = (
    asyncpg.PostgresError,
    asyncpg.InterfaceError,
    # A connection that the server ended while it was idle is sometimes found so.
    asyncpg.InternalClientError,
    OSError,
    TimeoutError,
)

#: The transaction was undone because of others: done again from the start, it may pass.
_AGAIN = frozenset({"40001", "40P01"})
_REFUSED = {
    "28P01": "does not accept the password; check user and password in the URL",
    "28000": "does not let this user in; check the user in the URL and the server's pg_hba.conf",
    "3D000": "has no such database; create it, or name another in the URL",
    "25006": "is read-only, as a replica is; name the primary server",
    "26000": "shares connections between transactions; add ?pooler=transaction to the URL",
    "42P05": "shares connections between transactions; add ?pooler=transaction to the URL",
    # Before it can be asked for its version, it meets a setting that it does not know.
    "42704": "is too old for the settings of a connection; PostgreSQL 12 or newer is needed",
    "54000": "takes no value of this size; make the payload or the result smaller",
}
_UNAVAILABLE = {
    "53300": "has no connection left; raise its max_connections, a pooler's max_client_conn or the"
    " limit of this user, or lower ?pool=",
    "55P03": "kept a row locked for too long; try again, or end the session that holds the lock",
    # Which of them it was, only the server's words say, in whatever language it speaks.
    "57014": "ended a statement: it exceeded the statement timeout, or an admin cancelled"
    " it; try again, or raise ?statement_timeout=",
    "57P01": "is shutting down; try again",
    "57P02": "crashed; try again",
    "57P03": "is starting up; try again",
}
_KNOWN: dict[str, tuple[type[StoreError], str]] = {
    **{code: (StoreRefused, words) for code, words in _REFUSED.items()},
    **{code: (StoreUnavailable, words) for code, words in _UNAVAILABLE.items()},
}
#: PgBouncer has one code for everything: what a server would have said, by its words.
_POOLED = {
    "authentication failed": "28P01",
    "no such user": "28P01",
    "no such database": "3D000",
    "does not exist": "3D000",
    "no more connections": "53300",
}
#: How the driver says that a connection was cut before it was asked for anything more.
_CUT = re.compile("released back to the pool|connection is closed|cannot switch to state")
_CORRUPT = {"XX001", "XX002", "42P01", "42703"}


def code_of(error: BaseException) -> str:
    """The SQLSTATE; empty when the server did not get to say anything."""
    return str(getattr(error, "sqlstate", None) or "")


def driver_message(error: BaseException) -> str:
    """The first sentence of the server or the driver, without details and hints."""
    return str(getattr(error, "message", None) or error).partition("\n")[0]


def is_undone(error: BaseException) -> bool:
    """Whether the server took the whole transaction back, so that it may be done again."""
    # A table was changed under a statement that was prepared before: it is prepared anew.
    return code_of(error) in _AGAIN or isinstance(error, asyncpg.InvalidCachedStatementError)


def is_bad_data(error: BaseException) -> bool:
    """Whether one of the values given cannot be stored."""
    code = code_of(error)
    return isinstance(error, asyncpg.DataError) or code.startswith("22") or code == "54000"


def is_taken(error: BaseException | None) -> bool:
    """Whether somebody else has written what must be there once."""
    return isinstance(error, asyncpg.UniqueViolationError)


def is_pooler(error: BaseException) -> bool:
    """Whether what answered is a pooler that will have no settings of ours."""
    return "unsupported startup parameter" in str(error)


def is_hung_up(error: BaseException) -> bool:
    """Whether the connection was ended, and nothing said about why."""
    if isinstance(error, ConnectionRefusedError):
        return False
    return isinstance(error, asyncpg.ConnectionDoesNotExistError | ConnectionError)


def translate(error: BaseException, where: str) -> StoreError:
    """The same in our tree of errors; the caller keeps the cause."""
    code = code_of(error)
    if code == "08P01":
        code = next(
            (meant for words, meant in _POOLED.items() if words in driver_message(error)), code
        )
    known = _KNOWN.get(code)
    if known is not None:
        return known[0](f"{where} {known[1]}")
    refusal = _refusal(error, code)
    if refusal is not None:
        return StoreRefused(f"{where} {refusal}")
    if code == "53100":
        return StoreFull(f"{where} has no space left; free some, and work resumes by itself")
    if code in _CORRUPT:
        return StoreCorrupt(
            f"the tables of {where} are damaged; restore a backup ({driver_message(error)})"
        )
    if code in _AGAIN or code[:2] in {"08", "53", "57", "58"} or not code:
        return _away(error, where)
    return StoreError(f"{where} reported an error: {driver_message(error)}")


def _refusal(error: BaseException, code: str) -> str | None:
    """What would be wrong at every further try, in the server's or the driver's words."""
    if code == "42501":
        return f"refuses: {driver_message(error)}; tickwell doctor names the GRANT that helps"
    if code in {"42P07", "42710"}:
        return (
            f"has another table or type under a name of Tickwell's ({driver_message(error)});"
            " name another schema with ?schema="
        )
    return _wrong_url(error)


def _wrong_url(error: BaseException) -> str | None:
    if isinstance(error, asyncpg.ClientConfigurationError):
        return f"cannot be reached as the URL says: {driver_message(error)}; correct the URL"
    if isinstance(error, SSLCertVerificationError):
        return unaccepted(error.verify_message, "sslrootcert")
    # The kinds below it are of a connection, which some server ended.
    if type(error) is SSLError and (error.library != "SSL" or not error.reason):
        return (
            f"cannot be reached with the files that the URL names ({error.reason or 'unreadable'});"
            " check sslrootcert, sslcert, sslkey and sslpassword"
        )
    if "rejected SSL upgrade" in str(error):
        return (
            "has no TLS, which servers on other machines need unless sslmode in the URL says"
            " otherwise; switch it on there, or on a trusted network add sslmode=disable"
        )
    if is_pooler(error):
        return "is a pooler that refuses Tickwell's settings; remove pooler=none from the URL"
    return None


def _away(error: BaseException, where: str) -> StoreUnavailable:
    if isinstance(error, TimeoutError):
        return StoreUnavailable(f"{where} does not answer in time; check the server and network")
    if not code_of(error) and _CUT.search(str(error)):
        return StoreUnavailable(f"{where} ended the connection; try again")
    if isinstance(error, asyncpg.TargetServerAttributeNotMatched):
        return StoreUnavailable(
            f"{where} does not match target_session_attrs in the URL, or none of several servers"
            " is a primary; name a server that is"
        )
    if isinstance(error, SSLError):
        return StoreUnavailable(
            f"{where} refuses TLS ({error.reason or driver_message(error)}); check the"
            " server's certificate and the ssl options of the URL"
        )
    why = driver_message(error) or type(error).__name__
    return StoreUnavailable(
        f"{where} does not answer ({why}); check that it runs and can be reached"
    )
