"""Processes under test, as the test sees them: what they say, and what is done to them."""

import json
import signal
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import Any

from tests.processes.agent import Orders
from tests.processes.start import ROOT, start

#: Seconds in which whatever is waited for happens on the slowest machine.
PATIENCE = 300.0


class Child:
    """A started process. Its standard output is read as it comes."""

    def __init__(self, module: str, *arguments: str) -> None:
        # Errors go into the test's own output, where they are shown when it fails.
        self.process = start(
            module, *arguments, cwd=ROOT, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE
        )
        self.lines: list[dict[str, Any]] = []
        self._silent = False
        self._changed = threading.Condition()
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    @property
    def pid(self) -> int:
        return self.process.pid

    def _read(self) -> None:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            parsed = json.loads(line) | {"heard": time.monotonic()}
            with self._changed:
                self.lines.append(parsed)
                self._changed.notify_all()
        with self._changed:
            self._silent = True
            self._changed.notify_all()

    def wait_for(
        self, event: str, seconds: float = PATIENCE, *, after: int = 0, **details: Any
    ) -> dict[str, Any]:
        """The first line of this event, and with these details, from a position on."""

        def found() -> dict[str, Any] | None:
            for line in self.lines[after:]:
                if line["event"] == event and details.items() <= line.items():
                    return line
            return None

        with self._changed:
            # One that has ended will never say it.
            self._changed.wait_for(lambda: found() or self._silent, seconds)
            line = found()
        assert line is not None, f"no {event} {details} within {seconds} s: {self.lines[-10:]}"
        return line

    def heard(self, event: str) -> list[dict[str, Any]]:
        return [line for line in list(self.lines) if line["event"] == event]

    def send(self, number: signal.Signals) -> None:
        self.process.send_signal(number)

    def kill(self) -> None:
        """-9, and gone when this returns."""
        self.process.kill()
        self.process.wait()

    def wait(self, seconds: float = PATIENCE) -> int:
        code = self.process.wait(seconds)
        self._reader.join()
        return code

    def close(self) -> None:
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGCONT)
            self.process.kill()
        self.process.wait()
        self._reader.join()
        assert self.process.stdout is not None
        self.process.stdout.close()


class Family:
    """All processes of a test; none outlives it."""

    def __init__(self) -> None:
        self.children: list[Child] = []

    def agent(self, orders: Orders) -> Child:
        child = self.begin(orders)
        child.wait_for("Started")
        return child

    def begin(self, orders: Orders) -> Child:
        """Start an agent without waiting for it."""
        return self.start("tests.processes.agent", json.dumps(asdict(orders)))

    def start(self, module: str, *arguments: str) -> Child:
        """`python -m MODULE ARGUMENTS`."""
        child = Child(module, *arguments)
        self.children.append(child)
        return child


@contextmanager
def family() -> Iterator[Family]:
    made = Family()
    try:
        yield made
    finally:
        for child in made.children:
            child.close()


def until(happened: Callable[[], Any], seconds: float = PATIENCE, what: str = "") -> Any:
    """Wait for something that no line tells; a bound on liveness, never on speed."""
    end = time.monotonic() + seconds
    while not (answer := happened()):
        assert time.monotonic() < end, f"not within {seconds} s: {what or happened}"
        time.sleep(0.01)
    return answer


def is_alive(pid: int) -> bool:
    """Whether a process runs; one that ended and was not waited for does not."""
    return state_of(pid) not in {"", "Z"}


def state_of(pid: int) -> str:
    """The letter that the kernel has for it: T is stopped; none when it is gone."""
    try:
        stat = Path(f"/proc/{pid}/stat").read_text()
    except (FileNotFoundError, ProcessLookupError):
        return ""
    return stat.rpartition(")")[2].split()[0]
