"""Notes: what an attempt tells while it is under way, kept as records beside its execution."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

#: The kinds of the records: how far an attempt is, by the execution's id; and what it printed and
#: logged, by the execution's id and the attempt's number.
PROGRESS = "progress"
OUTPUT = "attempt_log"

#: What is kept of one attempt: the last lines, and no more characters of them.
MOST_LINES = 200
MOST_CHARACTERS = 16_384

#: A line with its number, from 0.
Line = tuple[int, str]


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
    #: The number of the first of these lines, counted from 0.
    first: int = 0

    @property
    def end(self) -> int:
        """The number of the line that comes next."""
        return self.first + len(self.lines)

    def after(self, number: int) -> Output:
        """The lines from this number on."""
        skipped = max(number - self.first, 0)
        return Output(attempt=self.attempt, first=self.first + skipped, lines=self.lines[skipped:])


def output_key(execution_id: str, attempt: int, chunk: int | None = None) -> str:
    """The key of an attempt's output; those of one execution are read by its id and in order.

    An attempt under way writes chunks, each under a key of its own. Its end replaces them.
    """
    key = f"{execution_id}/{attempt:08}"
    return key if chunk is None else f"{key}/{chunk:04}"


def output_document(attempt: int, lines: Sequence[Line]) -> dict[str, Any]:
    """The document of an output, or of a chunk of one."""
    first = lines[0][0] if lines else 0
    return {"attempt": attempt, "first": first, "lines": [text for _, text in lines]}


def outputs_of(records: Iterable[tuple[str, dict[str, Any]]]) -> list[Output]:
    """The outputs of an execution by keys and documents: chunks count until there is a whole."""
    whole: dict[int, Output] = {}
    chunks: dict[int, dict[int, str]] = {}
    for key, document in records:
        attempt, lines = document["attempt"], document["lines"]
        first = document.get("first", 0)
        if key.count("/") == 1:
            whole[attempt] = Output(attempt=attempt, first=first, lines=tuple(lines))
        else:
            chunks.setdefault(attempt, {}).update(enumerate(lines, first))
    joined = {attempt: _joined(attempt, lines) for attempt, lines in chunks.items()}
    return [one for _, one in sorted((joined | whole).items())]


def _joined(attempt: int, lines: dict[int, str]) -> Output:
    """The last lines without a gap, and no more than are kept of one attempt."""
    kept: list[str] = []
    room, number = MOST_CHARACTERS, max(lines, default=-1)
    while number in lines and len(kept) < MOST_LINES and len(lines[number]) <= room:
        room -= len(lines[number])
        kept.append(lines[number])
        number -= 1
    return Output(attempt=attempt, first=number + 1, lines=tuple(reversed(kept)))
