"""Store URLs of MySQL and MariaDB: `mysql://user:password@host:3306/database?prefix=tickwell_`."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import parse_qsl, unquote

from tickwell.errors import InvalidSetting
from tickwell.stores.address import split
from tickwell.stores.sql.numbers import take_numbers

SCHEMES = ("mysql", "mariadb")
PORT = 3306
PREFIX = "tickwell_"
#: Options of TLS, and what the driver calls them.
TLS = {"ssl_ca": "ca", "ssl_cert": "cert", "ssl_key": "key"}
_PREFIX = re.compile(r"[a-z_][a-z0-9_]{0,30}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Location:
    """Where the tables are, and how they are reached. Durations are seconds."""

    #: For people, without credentials.
    name: str
    database: str
    #: How the driver reaches the server, with credentials.
    driver: dict[str, Any] = field(repr=False)
    #: What the names of our tables begin with.
    prefix: str = PREFIX
    #: Connections at most.
    pool: int = 10
    connect_timeout: float = 10.0
    statement_timeout: float = 30.0
    lock_timeout: float = 10.0


def parse(url: str) -> Location:
    """The location that a URL names."""
    parts = split(url, _invalid)
    if parts.scheme not in SCHEMES:
        raise _invalid("this is no URL of MySQL or MariaDB")
    database = unquote(parts.path.strip("/"))
    if not database or "/" in database:
        raise _invalid("the URL has to name a database")
    given = dict(parse_qsl(parts.query, keep_blank_values=True))
    driver = _driver(parts, given)
    options = _options(given)
    if given:
        raise _invalid(f"unknown options: {', '.join(sorted(given))}")
    name = f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}/{database}"
    if options.get("prefix", PREFIX) != PREFIX:
        name += f"?prefix={options['prefix']}"
    return Location(name=name, database=database, driver=driver, **options)


def _driver(parts: Any, given: dict[str, str]) -> dict[str, Any]:
    """What the driver is to know, taken out of what was given."""
    driver: dict[str, Any] = {"host": parts.hostname or "localhost", "port": parts.port or PORT}
    if parts.username:
        driver["user"] = unquote(parts.username)
    if parts.password:
        driver["password"] = unquote(parts.password)
    if "socket" in given:
        driver["unix_socket"] = given.pop("socket")
    tls = {known: given.pop(name) for name, known in TLS.items() if name in given}
    wanted = given.pop("ssl", "true" if tls else "false")
    if wanted not in {"true", "false"}:
        raise _invalid("ssl is true or false")
    if wanted == "true":
        driver["ssl"] = tls or True
    return driver


def _options(given: dict[str, str]) -> dict[str, Any]:
    """Our own options, taken out of what was given."""
    options: dict[str, Any] = {}
    if "prefix" in given:
        options["prefix"] = given.pop("prefix")
        if not _PREFIX.fullmatch(options["prefix"]):
            raise _invalid("a prefix has small letters, digits and _, 31 at most")
    return options | take_numbers(given, _invalid)


def _invalid(reason: str) -> InvalidSetting:
    hint = "For example mysql://tickwell:password@localhost:3306/tickwell"
    return InvalidSetting(reason, field="store", hint=hint)
