"""What processes did: a file with one line per call, complete even if the caller is killed."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import NamedTuple

from tickwell.clock import StoreClock

BEGIN, FENCED = "begin", "fenced"


class Note(NamedTuple):
    """One line."""

    #: A handler was called, or a report was refused.
    what: str
    execution: str
    attempt: int
    process: int
    #: Seconds on the monotonic clock, which all processes of a host share.
    at: float


class Notes:
    """Appends lines: one write each, so that those of several processes do not mix."""

    def __init__(self, path: str) -> None:
        self._clock = StoreClock()
        self._file = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)

    def write(self, what: str, execution: str, attempt: int) -> None:
        """Write one line, with the time and the process."""
        note = Note(what, execution, attempt, os.getpid(), self._clock.monotonic())
        os.write(self._file, json.dumps(note).encode() + b"\n")


def read(path: Path) -> list[Note]:
    """All complete lines so far."""
    if not path.exists():
        return []
    lines = path.read_bytes().splitlines(keepends=True)
    return [Note(*json.loads(line)) for line in lines if line.endswith(b"\n")]
