"""Store URLs of MySQL and MariaDB: `mysql://user:password@host:3306/database?prefix=tickwell_`."""

from __future__ import annotations

import re
import ssl
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import parse_qsl, unquote

from tickwell.errors import InvalidSetting
from tickwell.stores.link import is_local
from tickwell.stores.schemes import split
from tickwell.stores.sql.url_numbers import take_numbers

SCHEMES = ("mysql", "mariadb")
PORT = 3306
PREFIX = "tickwell_"
#: Options that name files for TLS.
FILES = ("ssl_ca", "ssl_cert", "ssl_key")
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
    query = dict(parse_qsl(parts.query, keep_blank_values=True))
    driver = _driver(parts, query)
    options = _options(query)
    if query:
        raise _invalid(f"unknown options: {', '.join(sorted(query))}")
    name = f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}/{database}"
    if options.get("prefix", PREFIX) != PREFIX:
        name += f"?prefix={options['prefix']}"
    return Location(name=name, database=database, driver=driver, **options)


def _driver(parts: Any, query: dict[str, str]) -> dict[str, Any]:
    """What the driver is to know, taken out of what was given."""
    driver: dict[str, Any] = {"host": parts.hostname or "localhost", "port": parts.port or PORT}
    if parts.username:
        driver["user"] = unquote(parts.username)
    if parts.password:
        driver["password"] = unquote(parts.password)
    if "socket" in query:
        driver["unix_socket"] = query.pop("socket")
    files = {name: query.pop(name) for name in FILES if name in query}
    is_remote = "unix_socket" not in driver and not is_local(driver["host"])
    wanted = query.pop("ssl", "true" if files or is_remote else "false")
    if wanted not in {"true", "false", "unverified"}:
        raise _invalid("ssl is true, false or unverified")
    if wanted != "false":
        driver["ssl"] = _context(files, is_verified=wanted == "true")
    return driver


def _context(files: dict[str, str], *, is_verified: bool) -> ssl.SSLContext:
    """Not left to the driver, which verifies nothing unless it is given an authority."""
    try:
        context = ssl.create_default_context(cafile=files.get("ssl_ca"))
        if "ssl_cert" in files:
            context.load_cert_chain(files["ssl_cert"], files.get("ssl_key"))
    except OSError as error:
        reason = error.strerror or error
        raise _invalid(f"{', '.join(files)}: a file cannot be used ({reason})") from None
    if not is_verified:
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE
    return context


def _options(query: dict[str, str]) -> dict[str, Any]:
    """Our own options, taken out of what was given."""
    options: dict[str, Any] = {}
    if "prefix" in query:
        options["prefix"] = query.pop("prefix")
        if not _PREFIX.fullmatch(options["prefix"]):
            raise _invalid("a prefix has small letters, digits and _, 31 at most")
    return options | take_numbers(query, _invalid)


def _invalid(reason: str) -> InvalidSetting:
    hint = "For example mysql://tickwell:password@localhost:3306/tickwell"
    return InvalidSetting(reason, field="store", hint=hint)
