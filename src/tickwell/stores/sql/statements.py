"""Statements by name, from .sql files: the same operation has the same name in every dialect.

What several statements of a file have in common is a part, which each of them takes in its place.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from importlib.resources import files

_HEAD = re.compile(r"^-- (name|part): (\w+)\n", re.MULTILINE)
_TAKE = re.compile(r"^-- take: (\w+)\n", re.MULTILINE)
_COMMENT = re.compile(r"^\s*--.*\n", re.MULTILINE)


class Statements(dict[str, str]):
    """The statements of one store."""

    def __missing__(self, name: str) -> str:
        raise KeyError(f"no statement is named {name!r}; the .sql files name these: {sorted(self)}")


def load(package: str, folder: str = "statements") -> Statements:
    """All statements in the .sql files of a package's folder."""
    statements = Statements()
    for file in sorted(files(package).joinpath(folder).iterdir(), key=lambda file: file.name):
        if not file.name.endswith(".sql"):
            continue
        for name, text in parse(file.read_text("utf-8")):
            if name in statements:
                raise ValueError(f"{file.name}: a second statement is named {name!r}")
            statements[name] = text
    return statements


def parse(text: str) -> Iterator[tuple[str, str]]:
    """Each `-- name: …` begins a statement; the comments in it are for the reader."""
    _, *found = _HEAD.split(text)
    heads = list(zip(found[::3], found[1::3], found[2::3], strict=True))
    parts = {name: body for kind, name, body in heads if kind == "part"}
    for kind, name, body in heads:
        if kind == "name":
            whole = _TAKE.sub(lambda take: parts[take[1]], body)
            yield name, _COMMENT.sub("", whole).strip().rstrip(";")


#: Without the schema or the prefix that makes their names ours.
TABLES = (
    "attempt",
    "cursor",
    "execution",
    "gate",
    "job",
    "meta",
    "queue",
    "record",
    "running",
    "skip",
    "step",
    "tally",
    "worker",
)
