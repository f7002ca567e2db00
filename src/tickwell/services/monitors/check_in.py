"""A check-in: what an outside job reports."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

#: Bytes of a log that are kept; the end of a longer one is cut off.
LONGEST_LOG = 10_000


class Signal(StrEnum):
    """What it says."""

    START = "start"
    SUCCESS = "success"
    FAIL = "fail"
    LOG = "log"


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckIn:
    """One ping."""

    signal: Signal
    #: The exit code; None: the ping has none.
    exit_code: int | None = None
    #: What the job printed.
    log: str = ""
    #: Names the run, for jobs that may overlap: the start and the end have the same.
    run: str = ""


def read_action(text: str) -> tuple[Signal, int | None] | None:
    """What the last part of a ping URL says; None: nothing known."""
    if text in {"", "start", "fail", "log"}:
        return Signal(text or "success"), None
    if text.isascii() and text.isdecimal() and len(text) <= 3 and int(text) <= 255:
        code = int(text)
        return Signal.FAIL if code else Signal.SUCCESS, code
    return None


def cut(body: bytes) -> str:
    """A log as it is kept."""
    return body[:LONGEST_LOG].decode("utf-8", "replace")
