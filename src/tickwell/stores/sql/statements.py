"""Statements by name, from .sql files: the same operation has the same name in every dialect."""

from __future__ import annotations

import re
from collections.abc import Iterator
from importlib.resources import files

_HEAD = re.compile(r"^-- name: (\w+)\n", re.MULTILINE)
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
    _, *parts = _HEAD.split(text)
    for name, body in zip(parts[::2], parts[1::2], strict=True):
        yield name, _COMMENT.sub("", body).strip().rstrip(";")
