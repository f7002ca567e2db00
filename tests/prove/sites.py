"""Where proofs are held, by store."""

from collections.abc import Callable
from pathlib import Path

from tests.processes.site import Site
from tests.prove.mongo import site_on_mongo
from tests.prove.mysql import site_on_mysql
from tests.prove.postgres import site_on_postgres
from tests.prove.redis import site_on_redis


def site_on_sqlite(folder: Path, _: str) -> Site:
    """A file."""
    return Site(folder)


SITES: dict[str, Callable[[Path, str], Site]] = {
    "sqlite": site_on_sqlite,
    "postgresql": site_on_postgres,
    "mysql": site_on_mysql,
    "mongodb": site_on_mongo,
    "redis": site_on_redis,
}
