"""The store in memory: the executable specification of what every store does."""

from tickwell.stores.memory.store import MemoryStore

__all__ = ["MemoryStore"]
