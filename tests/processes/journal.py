"""What handlers did, in a file of its own: a line a call, whole even when the caller is killed."""

import json
import os
import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path


@dataclass(frozen=True)
class Line:
    """One line."""

    #: "begin" or "end" of a call.
    what: str
    execution: str
    attempt: int
    job: str
    process: str
    #: Wall clock in milliseconds, and by how much the process may misjudge the store's.
    at: int
    slack: int
    #: CLOCK_MONOTONIC in nanoseconds, which all processes of a host share.
    monotonic: int


class Journal:
    """Appends lines. O_APPEND and one write a line: lines of several processes do not mix."""

    def __init__(self, path: Path) -> None:
        self._file = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o644)

    def write(
        self, what: str, execution: str, attempt: int, job: str, *, at: int, slack: int
    ) -> None:
        line = Line(what, execution, attempt, job, str(os.getpid()), at, slack, time.monotonic_ns())
        os.write(self._file, json.dumps(asdict(line)).encode() + b"\n")


def read(path: Path) -> Iterator[Line]:
    """All lines so far; one that is being written is left out.

    What `read` has of it ends the list: its rest may be there a moment later.
    """
    if not path.exists():
        return
    with path.open("rb") as file:
        for line in file:
            if not line.endswith(b"\n"):
                return
            yield Line(**json.loads(line))
