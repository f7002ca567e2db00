"""The MongoDB store."""

from tickwell.stores.mongo.store import MongoStore

__all__ = ["MongoStore"]
