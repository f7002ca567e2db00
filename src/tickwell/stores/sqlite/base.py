"""What all parts of the store share."""

from __future__ import annotations

from tickwell.stores.sql.cache import JobCache
from tickwell.stores.sqlite.reader import Reader
from tickwell.stores.sqlite.writer import Writer


class SqliteBase:
    """The two threads and the definitions that both know."""

    writer: Writer
    reader: Reader
    cache: JobCache
