"""Store URLs of SQLite: `sqlite:///relative.db`, `sqlite:////absolute.db?synchronous=normal`."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from urllib.parse import parse_qsl, unquote, urlsplit

from tickwell.errors import InvalidSetting

SYNCHRONOUS = ("full", "normal")
#: Bytes in a name, and in a path, beyond which no file system of Linux or macOS takes it.
LONGEST = 255
LONGEST_PATH = 1000
#: What SQLite adds to the name for the files beside it, at most.
BESIDE = "-journal"


@dataclass(frozen=True, slots=True)
class Location:
    """Where the file is, and how its writes are made durable."""

    path: Path
    synchronous: str = "full"
    #: Whether tables of another application may be in the file.
    shared: bool = False


def parse(url: str) -> Location:
    """The location that a URL names."""
    parts = urlsplit(url)
    if parts.scheme != "sqlite" or parts.netloc or len(parts.path) < 2:
        raise _invalid(f"{url!r} names no file")
    options = dict(parse_qsl(parts.query, keep_blank_values=True))
    synchronous = options.pop("synchronous", SYNCHRONOUS[0]).lower()
    shared = options.pop("shared", "false").lower()
    if options:
        raise _invalid(f"{url!r} has unknown options: {', '.join(sorted(options))}")
    if synchronous not in SYNCHRONOUS:
        raise _invalid(f"synchronous={synchronous} is neither full nor normal")
    if shared not in {"true", "false"}:
        raise _invalid(f"shared={shared} is neither true nor false")
    if parts.fragment:  # it would be another file than the one that is meant
        raise _invalid(f"{url!r} has a # in it, which ends the name of a file", "Write %23 for it")
    return Location(Path(_name(parts.path[1:], url)), synchronous, shared == "true")


def _name(quoted: str, url: str) -> str:
    try:
        name = unquote(quoted, errors="strict")
        parts = [len(part.encode()) for part in name.split("/")]
    except UnicodeError:
        raise _invalid(f"{url!a} has a character in it that is no UTF-8") from None
    if "\0" in name:
        raise _invalid(f"{url!r} has a null character in the name of its file")
    if name == ":memory:":
        raise _invalid("a database in memory is seen by one connection only", "Use memory://")
    if max(parts) > LONGEST - len(BESIDE) or sum(parts) + len(parts) > LONGEST_PATH:
        raise _invalid(f"the name of the file, {name[:20]}…, is too long", "Use a shorter one")
    return name


def _invalid(reason: str, hint: str = "") -> InvalidSetting:
    hint = hint or "For example sqlite:///tickwell.db, or sqlite:////var/lib/tickwell.db"
    return InvalidSetting(reason, field="store", hint=hint)
