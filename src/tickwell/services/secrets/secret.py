"""A secret as it is stored: its name and description, and what its envelope is bound to."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

from tickwell.errors import InvalidInput

#: A secret, in its project; and the platform's note that a project has secrets.
KIND, PROJECT = "secret", "secret_project"
_NAME = re.compile(r"[A-Za-z0-9_-]{1,255}")


@dataclass(frozen=True, slots=True, kw_only=True)
class SecretInfo:
    """The description of a secret: everything but its value."""

    name: str
    version: int
    saved_at: int
    by: str
    #: The only hosts that it may be sent to; empty: any host.
    hosts: tuple[str, ...] = ()


def binding(project: str, name: str, version: int) -> tuple[str, str, str]:
    """What an envelope is bound to: it cannot be opened as another secret's."""
    return project, name, str(version)


def check_secret_name(name: str) -> None:
    """Raise `InvalidInput` for a name that a template could not contain."""
    if not _NAME.fullmatch(name):
        raise InvalidInput(
            f"{name[:64]!r} is not a valid secret name",
            field="name",
            hint="Use 1 to 255 of letters, digits, - and _",
        )


def read_info(document: dict[str, Any]) -> SecretInfo:
    """The description in a stored record."""
    return SecretInfo(
        name=document["name"],
        version=document["version"],
        saved_at=document["saved_at"],
        by=document["by"],
        hosts=tuple(document.get("hosts", ())),
    )
