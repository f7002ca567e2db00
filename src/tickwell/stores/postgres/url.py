"""Store URLs of PostgreSQL: `postgresql://user:password@host:5432/database?schema=tickwell`."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, unquote, urlencode, urlunsplit

from tickwell.errors import InvalidSetting
from tickwell.stores.link import hosts_of, is_local, postgres_hosts, system_authorities
from tickwell.stores.schemes import PORTS, UNESCAPED, split
from tickwell.stores.sql.url_numbers import take_numbers

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
FILES = ("sslrootcert", "sslcert", "sslkey", "sslcrl", "passfile")
#: What the driver would refuse in words that nobody can read.
SERVERS = ("any", "primary", "standby", "read-write", "read-only", "prefer-standby")
#: What `pooler` may say: sessions are ours, or connections are shared between transactions.
POOLERS = ("none", "transaction")
_SCHEMA = re.compile(r"[a-z_][a-z0-9_]{0,62}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Location:
    """Where the tables are, and how they are reached. Durations are seconds."""

    #: For the driver, with credentials: one for each host.
    dsns: tuple[str, ...] = field(repr=False)
    #: For people, without.
    name: str
    #: As far as the URL or the environment says.
    user: str = ""
    database: str = ""
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

    @property
    def channel(self) -> str:
        """What processes on these tables notify and listen to."""
        return f"tickwell_{self.schema}"[:63]


def parse(url: str) -> Location:
    """The location that a URL names."""
    parts = split(url, _invalid, several=True)
    if parts.scheme not in SCHEMES:
        raise _invalid("this is no URL of PostgreSQL")
    if parts.netloc.count("@") > 1:  # for the driver the first ends the password
        raise _invalid(UNESCAPED)
    query = _query(parts.query)
    driver = {name: query.pop(name) for name in list(query) if name in DRIVER}
    hosts = parts.netloc.rpartition("@")[2]
    _check_driver(driver, hosts)
    names = (hosts or driver.get("host", "")).split(",")
    if len(names) > 1:
        if not all(name.partition(":")[0] for name in names):
            raise _invalid("one of several hosts has no name")  # this machine would be asked
        # Of several the first that answers would do: a replica, and for as long as it answers.
        driver.setdefault("target_session_attrs", "primary")
    options = _options(query)
    if query:
        raise _invalid(f"unknown options: {', '.join(sorted(query))}")
    dsns = tuple(
        urlunsplit(("postgresql", netloc, parts.path, urlencode(one), ""))
        for netloc, one in (_secured(*each) for each in _hosts(parts.netloc, driver))
    )
    schema = options.get("schema", Location.__dataclass_fields__["schema"].default)
    name = f"postgresql://{hosts or driver.get('host', '')}{parts.path}"
    if schema != "tickwell":
        name += f"?schema={schema}"
    files = {option: driver[option] for option in FILES if option in driver}
    user = unquote(parts.username or "") or driver.get("user") or os.environ.get("PGUSER", "")
    database = unquote(parts.path[1:]) or os.environ.get("PGDATABASE") or user
    return Location(dsns=dsns, name=name, user=user, database=database, files=files, **options)


def _query(text: str) -> dict[str, str]:
    pairs = parse_qsl(text, keep_blank_values=True)
    options = dict(pairs)
    if len(options) < len(pairs):
        raise _invalid("an option is given twice")
    blank = [name for name, value in pairs if not value]
    if blank:
        raise _invalid(f"these options have no value: {', '.join(blank)}")
    return options


def _check_driver(driver: dict[str, str], hosts: str) -> None:
    """Refuse what the driver would pass over, or stumble over."""
    if hosts and ("host" in driver or "port" in driver):
        raise _invalid("a host stands before the path already; write its port behind it, host:5432")
    for port in driver.get("port", "5432").split(","):
        if not (port.isascii() and port.isdecimal() and int(port) in PORTS):
            raise _invalid("the port is no number from 1 to 65535")
    for name in driver.get("host", "").split(","):
        if not name.startswith("/") and ":" in name.rpartition("]")[2]:
            raise _invalid("beside host= a port is an option, port=5433, and IPv6 is [::1]")
    if driver.get("target_session_attrs", "any") not in SERVERS:
        raise _invalid(f"target_session_attrs is one of {', '.join(SERVERS)}")


def _hosts(netloc: str, driver: dict[str, str]) -> list[tuple[str, dict[str, str]]]:
    """What names each of the hosts alone."""
    user, at, hosts = netloc.rpartition("@")
    if hosts:
        return [(f"{user}{at}{host}", driver) for host in hosts.split(",")]
    names = driver.get("host", "").split(",")
    ports = driver.get("port", "").split(",")
    if len(ports) == 1:
        ports *= len(names)
    if len(ports) != len(names):
        raise _invalid("there have to be as many ports as hosts, or one port")
    if names == [""]:
        return [(netloc, driver)]
    return [
        (netloc, driver | {"host": name} | ({"port": port} if port else {}))
        for name, port in zip(names, ports, strict=True)
    ]


def _secured(netloc: str, driver: dict[str, str]) -> tuple[str, dict[str, str]]:
    """With TLS and a certificate that is verified, where the URL leaves both open."""
    driver = dict(driver)
    is_remote = not all(map(is_local, postgres_hosts(hosts_of(netloc), driver)))
    if is_remote and "sslmode" not in driver and "PGSSLMODE" not in os.environ:
        driver["sslmode"] = "verify-full"
        authorities = system_authorities()
        # As libpq: a file of the user's own comes before the system's.
        own = "PGSSLROOTCERT" in os.environ or Path("~/.postgresql/root.crt").expanduser().is_file()
        if authorities and not own:
            driver.setdefault("sslrootcert", authorities)
    return netloc, driver


def _options(query: dict[str, str]) -> dict[str, Any]:
    """Our own options, taken out of what was given."""
    options: dict[str, Any] = {}
    if "schema" in query:
        options["schema"] = query.pop("schema")
        if not _SCHEMA.fullmatch(options["schema"]):
            raise _invalid("a schema is named with small letters, digits and _, 63 at most")
        if options["schema"].startswith("pg_") or options["schema"] == "information_schema":
            raise _invalid("schemas of this name are PostgreSQL's own; name another")
    if "pooler" in query:
        options["pooler"] = query.pop("pooler")
        if options["pooler"] not in POOLERS:
            raise _invalid(f"pooler is one of {', '.join(POOLERS)}")
    return options | take_numbers(query, _invalid)


def _invalid(reason: str) -> InvalidSetting:
    hint = "For example postgresql://tickwell:password@localhost:5432/tickwell"
    return InvalidSetting(reason, field="store", hint=hint)
