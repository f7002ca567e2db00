"""`tickwell serve` whose log a test reads, line by line."""

import json
import os
import signal
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tests.processes.child import PATIENCE
from tests.processes.start import start


class Serving:
    """The process, and the lines that were read of its log."""

    def __init__(self, process: "subprocess.Popen[str]") -> None:
        self.process = process
        self.lines: list[dict[str, Any]] = []

    def wait_for(self, event: str, count: int = 1) -> dict[str, Any]:
        """Read until so many lines of an event have come; the last of them."""
        assert self.process.stderr is not None
        for text in self.process.stderr:
            line = json.loads(text)
            self.lines.append(line)
            count -= line["event"] == event
            if not count:
                return line
        raise AssertionError(f"it ended without {event}: {self.lines[-5:]}")


@contextmanager
def serving(folder: Path, *options: str, **environment: str) -> Iterator[Serving]:
    """Start it; it must drain and end well."""
    process = start(
        "tickwell",
        "serve",
        *options,
        cwd=folder,
        env=os.environ | environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        yield Serving(process)
        process.send_signal(signal.SIGTERM)
        process.communicate(timeout=PATIENCE)
        assert process.returncode == 0
    finally:
        process.kill()
        process.communicate()
