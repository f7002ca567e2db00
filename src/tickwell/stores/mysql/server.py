"""Whether a server, a database and its tables can be ours, before anything is written."""

from __future__ import annotations

import re
from dataclasses import dataclass

from asyncmy.errors import MySQLError

from tickwell.errors import StoreRefused
from tickwell.stores.mysql.errors import RIGHTS, code_of, driver_message
from tickwell.stores.mysql.session import Session
from tickwell.stores.mysql.url import Location
from tickwell.stores.sql.statements import TABLES

#: The oldest that have what the statements use: SKIP LOCKED, JSON_TABLE and a collation that
#: compares all bytes, trailing blanks included.
OLDEST_MARIADB = (10, 6, 0)
OLDEST_MYSQL = (8, 0, 17)
_NUMBERS = re.compile(r"(?:5\.5\.5-)?(\d+)\.(\d+)\.(\d+)")


@dataclass(frozen=True, slots=True)
class Flavour:
    """MySQL or MariaDB."""

    #: As the server says it.
    version: str = ""
    #: Bytes that it takes at once.
    most: int = 16 * 1024 * 1024

    @property
    def is_mariadb(self) -> bool:
        """The other is MySQL."""
        return "mariadb" in self.version.lower()

    @property
    def is_too_old(self) -> bool:
        """Whether it lacks what the statements use."""
        found = _NUMBERS.match(self.version)
        numbers = tuple(map(int, found.groups())) if found else ()
        return numbers < (OLDEST_MARIADB if self.is_mariadb else OLDEST_MYSQL)

    @property
    def collation(self) -> str:
        """Text is compared by its bytes."""
        return "utf8mb4_nopad_bin" if self.is_mariadb else "utf8mb4_0900_bin"

    def settings(self, location: Location) -> str:
        """What a connection is told at first."""
        if self.is_too_old:
            return "SET time_zone = '+00:00'"  # and it is refused, before anything is written
        wait = max(1, round(location.lock_timeout))
        parts = (
            f"SET NAMES utf8mb4 COLLATE {self.collation}",
            "SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED",
            "SET sql_mode = 'STRICT_ALL_TABLES,NO_ENGINE_SUBSTITUTION'",
            f"SET time_zone = '+00:00', innodb_lock_wait_timeout = {wait}",
            self.time_limit(location.statement_timeout),
        )
        # A process that stands still in a transaction would hold its locks for eight hours.
        most = max(1, round(location.statement_timeout))
        if self.is_mariadb:
            # A long list stays a list: made into a table, it would be joined in any order.
            own = f"SET in_predicate_conversion_threshold = 0, idle_transaction_timeout = {most}"
        else:
            # MySQL has this for idle connections only: those of the pool end too, and are replaced.
            own = f"SET wait_timeout = {most}"
        return "; ".join((*parts, own))

    def time_limit(self, seconds: float) -> str:
        """How long a statement may take from now on; 0: as long as the driver waits."""
        if self.is_mariadb:
            return f"SET max_statement_time = {seconds}"
        return f"SET max_execution_time = {round(seconds * 1000)}"


NO_RIGHT, NO_COLUMN = 1142, 1054
#: A column of each table that may be set to itself.
_COLUMN = {"attempt": "number", "cursor": "runs", "gate": "held", "tally": "count"}
_COLUMN |= {"job": "version", "skip": "count", "record": "version", "worker": "beat"}
_COLUMN |= {"step": "attempt"}
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
        f"{location.name} refuses: {driver_message(error)}; as its owner: GRANT {rights} ON"
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
