"""What all parts of the store share."""

from __future__ import annotations

from tickwell.stores.mysql import errors, listing
from tickwell.stores.mysql.database import Database
from tickwell.stores.sql.server.base import ServerBase


class MysqlBase(ServerBase):
    """The connections."""

    database: Database
    errors = errors
    listing = listing
