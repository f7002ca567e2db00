"""The store in one SQLite file: the default."""

from tickwell.stores.sqlite.store import SqliteStore

__all__ = ["SqliteStore"]
