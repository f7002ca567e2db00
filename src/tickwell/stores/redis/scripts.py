"""Scripts by name, from .lua files; shared parts are prepended when a script is loaded."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from hashlib import sha1
from importlib.resources import files

_HEAD = re.compile(r"^-- (flags|needs): (.*)\n", re.MULTILINE)
_COMMENT = re.compile(r"^\s*--.*\n", re.MULTILINE)

#: Scripts without an epoch: the one that creates it, and those of the sidecar.
WITHOUT_EPOCH = frozenset({"open", "lease", "give_up"})


@dataclass(frozen=True, slots=True)
class Script:
    """One operation, as the server runs it."""

    name: str
    text: str
    #: The server's name for it.
    digest: str


@cache
def script(name: str) -> Script:
    """The script of an operation. Its first lines say which flags and which shared parts it needs.

    Flags are the server's: without any, nothing runs once memory is full; `allow-oom` is for
    scripts that end or free something, `no-writes` for those that only read.
    """
    folder = files("tickwell.stores.redis").joinpath("scripts")
    body = folder.joinpath(f"{name}.lua").read_text("utf-8")
    head = dict(_HEAD.findall(body))
    parts = [] if name in WITHOUT_EPOCH else ["start", *head.get("needs", "").split()]
    shared = [folder.joinpath("shared", f"{part}.lua").read_text("utf-8") for part in parts]
    code = _COMMENT.sub("", "\n".join([*shared, body]))
    text = f"#!lua flags={head.get('flags', '')}\n{code}"
    return Script(name, text, sha1(text.encode(), usedforsecurity=False).hexdigest())
