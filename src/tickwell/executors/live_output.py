"""The lines of an attempt under way, on their way to the store in chunks."""

from __future__ import annotations

from typing import NamedTuple

from tickwell.domain.note import Line
from tickwell.executors.output import Output

#: A chunk that has so many lines or characters is written no more. Until then each write repeats
#: it: so much is written again at most, and not all that the attempt has printed so far.
CHUNK_LINES = 25
CHUNK_CHARACTERS = 2_048


class Chunk(NamedTuple):
    """Lines that belong under one key."""

    slot: int
    lines: list[Line]


class LiveOutput:
    """What was written of an attempt's lines.

    Chunks have slots: the lines of one that all were dropped since make room for new ones.
    """

    __slots__ = ("_characters", "_current", "_ends", "_lines", "output")

    def __init__(self, output: Output) -> None:
        self.output = output
        #: By slot, the number of the line after its last one.
        self._ends: list[int] = []
        self._current = -1
        self._lines: list[Line] = []
        self._characters = 0

    @property
    def slots(self) -> range:
        """Those that were used."""
        return range(len(self._ends))

    def take(self) -> Chunk | None:
        """The chunk to write for the lines that came since the last look, if there are any."""
        self.output.is_unwritten = False  # before the look: what comes during it is looked for
        lines = self.output.snapshot()
        end = self._ends[self._current] if self._ends else 0
        count = lines[-1][0] + 1 - end if lines else 0
        if count <= 0:
            return None
        new = lines[-count:]
        if self._current < 0 or self._is_full() or new[0][0] > end:
            self._open(oldest=lines[0][0])
        self._lines += new
        self._characters += sum(len(text) for _, text in new)
        self._ends[self._current] = new[-1][0] + 1
        return Chunk(self._current, list(self._lines))

    def _is_full(self) -> bool:
        return len(self._lines) >= CHUNK_LINES or self._characters >= CHUNK_CHARACTERS

    def _open(self, oldest: int) -> None:
        """Begin a chunk, in a slot with nothing but lines that were dropped, or in a new one."""
        free = (slot for slot, end in enumerate(self._ends) if end <= oldest)
        self._current = next(free, len(self._ends))
        if self._current == len(self._ends):
            self._ends.append(0)
        self._lines, self._characters = [], 0
