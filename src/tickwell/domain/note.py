"""Notes: what an attempt tells while it is under way, kept as records beside its execution."""

from __future__ import annotations

from dataclasses import dataclass

#: The kinds of the records: how far an attempt is, by the execution's id; and what it printed and
#: logged, by the execution's id and the attempt's number.
PROGRESS = "progress"
OUTPUT = "attempt_log"


@dataclass(frozen=True, slots=True, kw_only=True)
class Progress:
    """How far an attempt is, by its own account."""

    attempt: int
    #: From 0 to 1.
    fraction: float
    message: str
    #: When it was written.
    at: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Output:
    """What an attempt printed and logged: its last lines."""

    attempt: int
    lines: tuple[str, ...]


def output_key(execution_id: str, attempt: int) -> str:
    """The key of an attempt's output; those of one execution are read by its id and in order."""
    return f"{execution_id}/{attempt:08}"
