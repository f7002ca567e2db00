"""The store that lives in a database of the project: its URL, from `DATABASES`."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlencode

from django.core.exceptions import ImproperlyConfigured

#: Options of libpq that say how to reach the server; others are about Django's own connections.
_PASSED = (
    *("passfile", "sslmode", "sslrootcert", "sslcert", "sslkey", "sslpassword", "sslcrl"),
    *("sslnegotiation", "ssl_min_protocol_version", "ssl_max_protocol_version"),
    "target_session_attrs",
)
#: Options that hide the server's address or its certificates where Tickwell does not look.
_OPAQUE = ("service", "read_default_file", "ssl")


def store_url_of(connection: Any) -> str:
    """The URL of a store in the database that this connection of Django's reaches."""
    database: Mapping[str, Any] = connection.settings_dict
    make = {"postgresql": _postgres, "mysql": _mysql, "sqlite": _sqlite}.get(connection.vendor)
    opaque = [name for name in _OPAQUE if name in (database.get("OPTIONS") or {})]
    if make is None or opaque:
        why = f"its option {opaque[0]!r}" if opaque else f"{connection.vendor}"
        raise ImproperlyConfigured(
            f"Tickwell cannot take its store from DATABASES[{connection.alias!r}]: {why} is not"
            ' supported; set TICKWELL = {"STORE": "postgresql://…"}'
        )
    return make(database)


def _postgres(database: Mapping[str, Any]) -> str:
    options = database.get("OPTIONS") or {}
    passed = {name: str(options[name]) for name in _PASSED if name in options}
    host, port = str(database.get("HOST") or ""), str(database.get("PORT") or "")
    if host.startswith("/"):
        passed |= {"host": host} | ({"port": port} if port else {})
        host = port = ""
    return _address("postgresql", database, host, port, passed)


def _mysql(database: Mapping[str, Any]) -> str:
    host, port = str(database.get("HOST") or "localhost"), str(database.get("PORT") or "")
    return _address("mysql", database, host, port, {})


def _sqlite(database: Mapping[str, Any]) -> str:
    name = str(database["NAME"])
    if name == ":memory:" or "mode=memory" in name:
        return "memory://"
    return f"sqlite:///{quote(str(Path(name).absolute()))}?shared=true"


def _address(
    scheme: str, database: Mapping[str, Any], host: str, port: str, options: Mapping[str, str]
) -> str:
    user = quote(str(database.get("USER") or ""), safe="")
    if database.get("PASSWORD"):
        user += f":{quote(str(database['PASSWORD']), safe='')}"
    where = f"[{host}]" if ":" in host and not host.startswith("[") else host
    where += f":{port}" if port else ""
    url = f"{scheme}://{user}{'@' if user else ''}{where}/{quote(str(database['NAME']), safe='')}"
    return f"{url}?{urlencode(options)}" if options else url
