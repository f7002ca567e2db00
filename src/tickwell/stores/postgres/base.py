"""What all parts of the store share."""

from __future__ import annotations

from tickwell.stores.postgres import errors, listing
from tickwell.stores.postgres.database import Database
from tickwell.stores.postgres.notifier import Bell
from tickwell.stores.sql.server.base import ServerBase


class PostgresBase(ServerBase):
    """The connections, and the bell for other processes."""

    database: Database
    bell: Bell
    errors = errors
    listing = listing

    def ring(self) -> None:
        self.bell.ring()
