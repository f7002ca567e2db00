"""Where a secret lives, and what its envelope is bound to."""

from __future__ import annotations

KIND = "secret"


def place(project: str, name: str, version: int) -> tuple[str, str, str]:
    """What an envelope is bound to."""
    return project, name, str(version)
