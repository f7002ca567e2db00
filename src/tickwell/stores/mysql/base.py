"""What all parts of the store share."""

from __future__ import annotations

from tickwell.stores.mysql.database import Database
from tickwell.stores.sql.cache import JobCache


class MysqlBase:
    """The connections, and the definitions that are known."""

    database: Database
    cache: JobCache
