"""Store URLs of SQLite: `sqlite:///relative.db`, `sqlite:////absolute.db?synchronous=normal`."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from urllib.parse import parse_qsl, unquote, urlsplit

from tickwell.errors import InvalidSetting

SYNCHRONOUS = ("full", "normal")


@dataclass(frozen=True, slots=True)
class Location:
    """Where the file is, and how its writes are made durable."""

    path: Path
    synchronous: str = "full"


def parse(url: str) -> Location:
    """The location that a URL names."""
    parts = urlsplit(url)
    if parts.scheme != "sqlite" or parts.netloc or len(parts.path) < 2:
        raise _invalid(f"{url!r} names no file")
    options = dict(parse_qsl(parts.query, keep_blank_values=True))
    synchronous = options.pop("synchronous", SYNCHRONOUS[0]).lower()
    if options:
        raise _invalid(f"{url!r} has unknown options: {', '.join(sorted(options))}")
    if synchronous not in SYNCHRONOUS:
        raise _invalid(f"synchronous={synchronous} is neither full nor normal")
    path = unquote(parts.path[1:])
    if "\0" in path:
        raise _invalid(f"{url!r} has a null character in the name of its file")
    if path == ":memory:":
        raise _invalid("a database in memory is seen by one connection only", "Use memory://")
    return Location(Path(path), synchronous)


def _invalid(reason: str, hint: str = "") -> InvalidSetting:
    hint = hint or "For example sqlite:///tickwell.db, or sqlite:////var/lib/tickwell.db"
    return InvalidSetting(reason, field="store", hint=hint)
