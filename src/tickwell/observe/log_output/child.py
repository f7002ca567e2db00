"""The log of a process that the service starts for an isolated handler."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

#: Format and level of this process's log, if it is the service's.
_STARTED: list[tuple[str, str]] = []


def note_started(format: str, level: str) -> None:
    """Remember how this process logs."""
    _STARTED[:] = [(format, level)]


def child_log() -> Callable[[], object] | None:
    """What a child calls to log as this process does; None: its application decides."""
    return partial(_start, *_STARTED[0]) if _STARTED else None


def _start(format: str, level: str) -> None:
    from tickwell.observe.log_output.output import start_log  # noqa: PLC0415 - loads structlog

    start_log(format, level)
