"""How the URL of a store begins, and what is meant where it begins otherwise."""

from __future__ import annotations

from collections.abc import Callable
from urllib.parse import SplitResult

from tickwell.domain.store_url import split_store_url
from tickwell.errors import InvalidSetting

PORTS = range(1, 65536)
UNESCAPED = (
    "the URL cannot be taken apart: what is special in a user, a password or an option is "
    "written %40 for @, %2F for /, %3F for ?, %23 for #, %5B for [, %5D for ]"
)


def split(
    url: str, invalid: Callable[[str], InvalidSetting], *, several: bool = False
) -> SplitResult:
    """Its parts, unless a password cuts it short: then parts of that would be taken for others."""
    try:
        parts = split_store_url(url)
    except ValueError:  # a bracket, which begins an address of IPv6
        raise invalid(UNESCAPED) from None
    if "@" in f"{parts.path}{parts.query}{parts.fragment}":
        raise invalid(UNESCAPED)
    hosts = parts.netloc.rpartition("@")[2]
    for host in hosts.split(",") if several else [hosts]:
        port = host.rpartition("]")[2].partition(":")[2]
        if port and not (port.isascii() and port.isdecimal() and int(port) in PORTS):
            raise invalid("the port is no number from 1 to 65535")
    return parts


#: Known store URLs, for messages.
EXAMPLES = (
    "memory://",
    "sqlite:///file.db",
    "postgresql://user@host/database",
    "mysql://user@host/database",
    "mongodb://user@host/database",
    "redis://host:6379/0",
)
#: Stores that are servers, by scheme: the folder, which is the extra to install, and the class.
SERVERS = {
    "postgresql": ("postgres", "PostgresStore"),
    "postgres": ("postgres", "PostgresStore"),
    "mysql": ("mysql", "MysqlStore"),
    "mariadb": ("mysql", "MysqlStore"),
    "mongodb": ("mongo", "MongoStore"),
    "mongodb+srv": ("mongo", "MongoStore"),
    "redis": ("redis", "RedisStore"),
    "rediss": ("redis", "RedisStore"),
}
#: What others call them.
_ELSEWHERE = {
    "mongo": "mongodb",
    "pg": "postgresql",
    "pgsql": "postgresql",
    "psql": "postgresql",
    "redis+ssl": "rediss",
    "redis+tls": "rediss",
    "sqlite3": "sqlite",
}


def scheme_of(url: object) -> str:
    """What stands before `://`; nothing where that is missing."""
    return url.partition("://")[0] if isinstance(url, str) and "://" in url else ""


def unknown(url: object) -> InvalidSetting:
    """The error for a URL that names no store, with the right spelling if it can be told."""
    scheme = scheme_of(url)
    meant = _meant(scheme)
    # The rest may hold a password.
    named = f"{scheme}://…" if scheme else f"{url}".partition(":")[0]
    return InvalidSetting(
        f"{named!r} names no store that Tickwell knows",
        field="store",
        hint=f"Write {meant}://…" if meant else f"Expected one of {', '.join(EXAMPLES)}",
    )


def _meant(scheme: str) -> str | None:
    """Small letters, and no driver: Tickwell brings its own."""
    small = scheme.lower()
    for guess in (small, small.partition("+")[0]):
        known = _ELSEWHERE.get(guess, guess)
        if known in SERVERS or known in {"memory", "sqlite"}:
            return known
    return None
