"""Which server answers, and what that means for our settings."""

from __future__ import annotations

import re
from dataclasses import dataclass

from tickwell.stores.mysql.url import Location

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
        # A long list stays a list: made into a table, it would be joined in any order.
        own = ("SET in_predicate_conversion_threshold = 0",) if self.is_mariadb else ()
        return "; ".join(parts + own)

    def time_limit(self, seconds: float) -> str:
        """How long a statement may take from now on; 0: as long as the driver waits."""
        if self.is_mariadb:
            return f"SET max_statement_time = {seconds}"
        return f"SET max_execution_time = {round(seconds * 1000)}"
