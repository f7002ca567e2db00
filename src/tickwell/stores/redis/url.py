"""Store URLs of Redis: `redis://user:password@host:6379/0?prefix=tickwell`."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from functools import partial
from typing import Any
from urllib.parse import parse_qsl, unquote, urlencode, urlunsplit

from tickwell.errors import InvalidSetting
from tickwell.stores.schemes import split

SCHEMES = ("redis", "rediss")
#: Options that the driver knows: TLS.
DRIVER = frozenset(
    {"ssl_ca_certs", "ssl_ca_path", "ssl_cert_reqs", "ssl_certfile", "ssl_check_hostname"}
    | {"ssl_keyfile", "ssl_password"}
)
_PREFIX = re.compile(r"[A-Za-z0-9_.:-]{1,64}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Location:
    """Where the keys are, and how to connect. Durations are seconds."""

    #: For the driver, with credentials.
    dsn: str = field(repr=False)
    #: For people, without credentials.
    name: str
    prefix: str = "tickwell"
    #: Maximum connections, besides that of the notifier.
    pool: int = 10
    connect_timeout: float = 10.0
    #: How long a reply may take.
    timeout: float = 30.0

    def key(self, name: str) -> str:
        """A key of this store; the hash tag keeps all of them in one cluster slot."""
        return f"{{{self.prefix}}}:{name}"


def parse(url: str, field: str = "store") -> Location:
    """The location that a URL names."""
    parts = split(url, partial(_invalid, field=field))
    if parts.scheme not in SCHEMES or not parts.hostname:
        raise _invalid("this is no URL of Redis", field)
    database = unquote(parts.path).strip("/") or "0"
    if not database.isdecimal():
        raise _invalid(f"{database!r} is no database: they have numbers", field)
    query = dict(parse_qsl(parts.query, keep_blank_values=True))
    driver = {name: query.pop(name) for name in list(query) if name in DRIVER}
    options = _options(query, field)
    if query:
        raise _invalid(f"unknown options: {', '.join(sorted(query))}", field)
    dsn = urlunsplit((parts.scheme, parts.netloc, f"/{database}", urlencode(driver), ""))
    name = f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}/{database}"
    if "prefix" in options:
        name += f"?prefix={options['prefix']}"
    return Location(dsn=dsn, name=name, **options)


def _options(query: dict[str, str], field: str) -> dict[str, Any]:
    """Tickwell's own options, removed from the others."""
    options: dict[str, Any] = {}
    if "prefix" in query:
        options["prefix"] = query.pop("prefix")
        if not _PREFIX.fullmatch(options["prefix"]):
            raise _invalid("a prefix has 1 to 64 letters, digits and . : _ -", field)
    for name, kind in (("pool", int), ("connect_timeout", float), ("timeout", float)):
        if name in query:
            options[name] = _number(name, query.pop(name), kind, field)
    return options


def _number(name: str, text: str, kind: type[int | float], field: str) -> float:
    try:
        number = kind(text)
    except ValueError:
        number = kind(0)
    if not 0 < number < 1e6:
        raise _invalid(f"{name}={text} is no positive number", field)
    return number


def _invalid(reason: str, field: str) -> InvalidSetting:
    return InvalidSetting(reason, field=field, hint="For example redis://localhost:6379/0")
