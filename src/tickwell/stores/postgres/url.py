"""Store URLs of PostgreSQL: `postgresql://user:password@host:5432/database?schema=tickwell`."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import parse_qsl, urlencode, urlunsplit

from tickwell.errors import InvalidSetting
from tickwell.stores.address import split
from tickwell.stores.sql.numbers import take_numbers

SCHEMES = ("postgresql", "postgres")
#: Options that the driver knows: how to reach the server, and TLS.
DRIVER = frozenset(
    {
        "host",
        "port",
        "user",
        "password",
        "passfile",
        "sslmode",
        "sslrootcert",
        "sslcert",
        "sslkey",
        "sslpassword",
        "sslcrl",
        "sslnegotiation",
        "ssl_min_protocol_version",
        "ssl_max_protocol_version",
        "target_session_attrs",
    }
)
#: Those that name a file which has to be there.
FILES = ("sslrootcert", "sslcert", "sslkey", "sslcrl")
#: What `pooler` may say: sessions are ours, or connections are shared between transactions.
POOLERS = ("none", "transaction")
_SCHEMA = re.compile(r"[a-z_][a-z0-9_]{0,62}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Location:
    """Where the tables are, and how they are reached. Durations are seconds."""

    #: For the driver, with credentials.
    dsn: str
    #: For people, without.
    name: str
    schema: str = "tickwell"
    #: None: find out.
    pooler: str | None = None
    #: Connections at most, beside that of the notifier.
    pool: int = 10
    connect_timeout: float = 10.0
    statement_timeout: float = 30.0
    lock_timeout: float = 10.0
    #: The files that the URL names, by option.
    files: dict[str, str] = field(default_factory=dict)


def parse(url: str) -> Location:
    """The location that a URL names."""
    parts = split(url, _invalid, several=True)
    if parts.scheme not in SCHEMES:
        raise _invalid("this is no URL of PostgreSQL")
    given = dict(parse_qsl(parts.query, keep_blank_values=True))
    driver = {name: given.pop(name) for name in list(given) if name in DRIVER}
    options = _options(given)
    if given:
        raise _invalid(f"unknown options: {', '.join(sorted(given))}")
    dsn = urlunsplit(("postgresql", parts.netloc, parts.path, urlencode(driver), ""))
    host = parts.netloc.rpartition("@")[2] or driver.get("host", "")
    schema = options.get("schema", Location.__dataclass_fields__["schema"].default)
    name = f"postgresql://{host}{parts.path}"
    if schema != "tickwell":
        name += f"?schema={schema}"
    files = {option: driver[option] for option in FILES if option in driver}
    return Location(dsn=dsn, name=name, files=files, **options)


def _options(given: dict[str, str]) -> dict[str, Any]:
    """Our own options, taken out of what was given."""
    options: dict[str, Any] = {}
    if "schema" in given:
        options["schema"] = given.pop("schema")
        if not _SCHEMA.fullmatch(options["schema"]):
            raise _invalid("a schema is named with small letters, digits and _, 63 at most")
    if "pooler" in given:
        options["pooler"] = given.pop("pooler")
        if options["pooler"] not in POOLERS:
            raise _invalid(f"pooler is one of {', '.join(POOLERS)}")
    return options | take_numbers(given, _invalid)


def _invalid(reason: str) -> InvalidSetting:
    hint = "For example postgresql://tickwell:password@localhost:5432/tickwell"
    return InvalidSetting(reason, field="store", hint=hint)
