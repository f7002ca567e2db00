"""Whether a server, a database and its tables can be ours, before anything is written."""

from __future__ import annotations

from asyncmy.errors import MySQLError

from tickwell.errors import StoreRefused
from tickwell.stores.mysql.errors import RIGHTS, code_of, said
from tickwell.stores.mysql.flavour import Flavour
from tickwell.stores.mysql.session import Session
from tickwell.stores.mysql.url import Location
from tickwell.stores.sql.server.tables import TABLES

NO_RIGHT, NO_COLUMN = 1142, 1054
#: A column of each table that may be set to itself.
_COLUMN = {"attempt": "number", "cursor": "runs", "gate": "held", "tally": "count"}
_COLUMN |= {"job": "version", "skip": "count", "record": "version", "worker": "beat"}
_COLUMN |= {"execution": "run_at", "queue": "run_at", "running": "run_at", "meta": "value"}


async def check(session: Session, location: Location, flavour: Flavour) -> bool | None:
    """Raise `StoreRefused` for what cannot be used, or is somebody else's.

    True: our tables are there. None: they are to be made.
    """
    where = location.name
    if flavour.is_too_old:
        raise StoreRefused(
            f"{where} is version {flavour.version}; MySQL 8.0.17 or MariaDB 10.6 or newer is needed"
        )
    [(read_only, by_statement)] = await session.query(
        "SELECT @@read_only, @@log_bin AND @@binlog_format = 'STATEMENT'"
    )
    if read_only:
        raise StoreRefused(f"{where} is read-only, as a replica is; name the primary server")
    if by_statement:
        raise StoreRefused(f"{where} writes its log by statement; set binlog_format = ROW")
    found = await _found(session, location)
    if found and not await _are_ours(session, location, found):
        raise StoreRefused(
            f"{where} has a table {location.prefix}{min(found)} that is not Tickwell's;"
            " name another prefix with ?prefix="
        )
    return True if "meta" in found and found - {"meta"} else None


async def check_rights(session: Session, location: Location) -> None:
    """Raise `StoreRefused` when a right to our tables is missing, named with its remedy.

    By statements that meet no row: the server refuses them all the same, and knows its roles.
    """
    probes = [
        session.sql["probe"].format(table=f"{location.prefix}{table}", column=_COLUMN[table])
        for table in await _found(session, location)
    ]
    try:
        await session.send("; ".join(probes))
    except MySQLError as error:
        if code_of(error) != NO_RIGHT:
            raise
        raise await refusal(session, location, error, RIGHTS) from error


async def refusal(
    session: Session, location: Location, error: BaseException, rights: str
) -> StoreRefused:
    """What is missing, in the server's words, and how it is given."""
    [(account,)] = await session.query("SELECT CURRENT_USER()")
    user, _, host = account.rpartition("@")
    return StoreRefused(
        f"{location.name} refuses: {said(error)}; as its owner: GRANT {rights} ON"
        f" `{location.database}`.* TO '{user}'@'{host}'"
    )


async def _found(session: Session, location: Location) -> set[str]:
    """Which of our tables are there."""
    names = [f"{location.prefix}{table}" for table in TABLES]
    rows = await session.query(
        "SELECT table_name FROM information_schema.tables"
        " WHERE table_schema = DATABASE() AND table_name IN %(1[])s",
        names,
    )
    return {name.removeprefix(location.prefix) for (name,) in rows}


async def _are_ours(session: Session, location: Location, found: set[str]) -> bool:
    if "meta" not in found:
        return False
    try:
        rows = await session.query(f"SELECT name, value FROM `{location.prefix}meta`")  # noqa: S608
    except MySQLError as error:
        if code_of(error) == NO_COLUMN:
            return False
        if code_of(error) == NO_RIGHT:
            return True  # and the rights are missing, which is said next
        raise
    if not rows:
        return found == {"meta"}  # made, and interrupted before the first row
    return bool(dict(rows).get("application") == "tickwell")
