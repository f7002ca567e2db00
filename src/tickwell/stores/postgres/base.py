"""What all parts of the store share."""

from __future__ import annotations

from tickwell.stores.postgres.database import Database
from tickwell.stores.postgres.notifier import Bell
from tickwell.stores.sql.cache import JobCache


class PostgresBase:
    """The connections, the definitions that are known, and the bell for other processes."""

    database: Database
    cache: JobCache
    bell: Bell
