"""Where records live that belong to no project: users, projects, sessions, signing keys."""

from __future__ import annotations

import re

from tickwell.domain.fairness import FIRST_PROJECT, PLATFORM_PROJECT
from tickwell.errors import InvalidInput

#: The project of all that is the platform's own. No name that a person can choose.
PLATFORM = PLATFORM_PROJECT
#: The project of the embedded case.
DEFAULT = FIRST_PROJECT

_NAME = re.compile(r"[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?")


def check_project_name(name: str) -> str:
    """The name, if a project may be called so."""
    if not _NAME.fullmatch(name):
        raise InvalidInput(
            f"{name[:64]!r} is not a valid project name",
            field="name",
            hint="Use 1 to 63 of a-z, 0-9 and -, with a letter or digit at both ends",
        )
    return name
