"""Where a secret lives, and what its envelope is bound to."""

from __future__ import annotations

#: A secret, in its project; that a project has some, of the platform.
KIND, PROJECT = "secret", "secret_project"


def place(project: str, name: str, version: int) -> tuple[str, str, str]:
    """What an envelope is bound to."""
    return project, name, str(version)
