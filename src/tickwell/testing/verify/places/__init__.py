"""Scratch places: a store beside the user's own, on the same server or disk, and of no other use.

Each is named `tickwell_verify_…`, so that one which stayed behind is known for what it is.
"""

from __future__ import annotations

from importlib import import_module

from tickwell.errors import InvalidSetting
from tickwell.stores.schemes import scheme_of, unknown
from tickwell.testing.verify.places.place import Place

#: By scheme: the module here, and the class in it. A driver is imported only where it is used.
PLACES = {
    "memory": ("memory", "MemoryPlace"),
    "sqlite": ("sqlite", "SqlitePlace"),
    "postgresql": ("postgres", "PostgresPlace"),
    "postgres": ("postgres", "PostgresPlace"),
    "mysql": ("mysql", "MysqlPlace"),
    "mariadb": ("mysql", "MysqlPlace"),
    "mongodb": ("mongo", "MongoPlace"),
    "mongodb+srv": ("mongo", "MongoPlace"),
    "redis": ("redis", "RedisPlace"),
    "rediss": ("redis", "RedisPlace"),
}

__all__ = ["PLACES", "Place", "place_for"]


def place_for(url: str, tag: str) -> Place:
    """The scratch place of this tag beside the store that a URL names; nothing is made yet."""
    scheme = scheme_of(url)
    if scheme not in PLACES:
        raise unknown(url)
    module, name = PLACES[scheme]
    try:
        place: Place = getattr(import_module(f"{__name__}.{module}"), name)(url, tag)
    except ModuleNotFoundError as error:
        raise InvalidSetting(
            f"{error.name} is not installed",
            field="store",
            hint=f"Install it: pip install 'tickwell[{module}]'",
        ) from error
    return place
