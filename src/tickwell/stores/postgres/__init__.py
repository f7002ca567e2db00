"""The PostgreSQL store."""

from tickwell.stores.postgres.store import PostgresStore

__all__ = ["PostgresStore"]
