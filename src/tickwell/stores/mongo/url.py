"""Store URLs of MongoDB: `mongodb://user:password@host:27017/database?replicaSet=rs0`."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any

from pymongo.errors import PyMongoError
from pymongo.uri_parser import parse_uri

from tickwell.errors import InvalidSetting
from tickwell.stores.link import hosts_of, is_local
from tickwell.stores.schemes import split

SCHEMES = ("mongodb", "mongodb+srv")
DATABASE = "tickwell"
#: Names that the server accepts, and names that it reserves.
_NAME = re.compile(r"[A-Za-z0-9_-]{1,63}")
_OWN = frozenset({"admin", "local", "config"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Location:
    """Where the collections are, and how to connect."""

    #: For the driver, with credentials.
    url: str = field(repr=False)
    #: For people, without credentials.
    name: str
    database: str
    #: Driver options that the URL does not set.
    options: dict[str, Any]


def parse(url: str) -> Location:
    """The location that a URL names."""
    parts = split(url, _invalid, several=True)
    if parts.scheme not in SCHEMES:
        raise _invalid("this is no URL of MongoDB")
    query = {} if parts.scheme == "mongodb+srv" else _checked(url)
    database = parts.path.strip("/") or DATABASE
    if not _NAME.fullmatch(database) or database in _OWN:
        raise _invalid(f"{database!r} cannot be the name of a database of ours")
    if query.get("readpreference", "primary").lower() != "primary":
        raise _invalid("only the primary knows what was written last; leave readPreference out")
    hosts = parts.netloc.rpartition("@")[2]
    options = {name: value for name, value in _USUAL.items() if name.lower() not in query}
    is_remote = not all(map(is_local, hosts_of(parts.netloc)))
    if is_remote and "tls" not in query and parts.scheme == "mongodb":  # mongodb+srv has it anyway
        options["tls"] = True
    return Location(
        url=url,
        name=f"{parts.scheme}://{hosts}/{database}",
        database=database,
        options=options,
    )


#: Acknowledged means on the disks of a majority; an unreachable server is not waited for long.
_USUAL: dict[str, Any] = {
    "w": "majority",
    "journal": True,
    "appname": "tickwell",
    "serverSelectionTimeoutMS": 10_000,
    "connectTimeoutMS": 10_000,
    "socketTimeoutMS": 30_000,
    "maxPoolSize": 20,
}


def _checked(url: str) -> dict[str, Any]:
    """The options of a URL, by their names in lower case."""
    try:
        found = parse_uri(url, validate=True, warn=False)
    except (PyMongoError, ValueError, TypeError) as error:
        raise _invalid(str(error).rstrip(".")) from error
    return {name.lower(): value for name, value in found["options"].items()}


def _invalid(reason: str) -> InvalidSetting:
    hint = "For example mongodb://tickwell:password@localhost:27017/tickwell"
    return InvalidSetting(reason, field="store", hint=hint)
