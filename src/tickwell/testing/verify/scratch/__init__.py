"""Scratch stores: created for a verification, on the same server or disk as the user's store.

Each is named `tickwell_verify_…`, so that one that could not be removed is recognised.
"""

from __future__ import annotations

from importlib import import_module

from tickwell.errors import InvalidSetting
from tickwell.stores.schemes import scheme_of, unknown
from tickwell.testing.verify.scratch.scratch_store import ScratchStore

#: By scheme: the module here, and the class in it. A driver is imported only where it is used.
SCHEMES = {
    "memory": ("memory", "MemoryScratch"),
    "sqlite": ("sqlite", "SqliteScratch"),
    "postgresql": ("postgres", "PostgresScratch"),
    "postgres": ("postgres", "PostgresScratch"),
    "mysql": ("mysql", "MysqlScratch"),
    "mariadb": ("mysql", "MysqlScratch"),
    "mongodb": ("mongo", "MongoScratch"),
    "mongodb+srv": ("mongo", "MongoScratch"),
    "redis": ("redis", "RedisScratch"),
    "rediss": ("redis", "RedisScratch"),
}

__all__ = ["SCHEMES", "ScratchStore", "scratch_for"]


def scratch_for(url: str, tag: str) -> ScratchStore:
    """The scratch store of this tag for the store that a URL names; nothing is created yet."""
    scheme = scheme_of(url)
    if scheme not in SCHEMES:
        raise unknown(url)
    module, name = SCHEMES[scheme]
    try:
        scratch: ScratchStore = getattr(import_module(f"{__name__}.{module}"), name)(url, tag)
    except ModuleNotFoundError as error:
        raise InvalidSetting(
            f"{error.name} is not installed",
            field="store",
            hint=f"Install it: pip install 'tickwell[{module}]'",
        ) from error
    return scratch
