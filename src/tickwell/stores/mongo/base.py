"""What all parts of the store share."""

from __future__ import annotations

import asyncio
from random import SystemRandom
from typing import TYPE_CHECKING

from tickwell.stores.mongo.database import Database
from tickwell.stores.sql.cache import JobCache

if TYPE_CHECKING:
    from tickwell.stores.mongo.notifier import Bell

_random = SystemRandom()


class MongoBase:
    """The collections, the definitions that are known, and the bell for other processes."""

    #: For people and logs; no credentials in it.
    name: str
    cache: JobCache
    bell: Bell
    _database: Database


def monotonic() -> float:
    """Seconds that only ever grow; for durations."""
    return asyncio.get_running_loop().time()


def new_op() -> str:
    """The name of one operation: nobody else's."""
    return f"{_random.getrandbits(96):024x}"
