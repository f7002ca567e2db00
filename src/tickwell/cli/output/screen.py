"""Where output goes: data to standard output, everything else to standard error."""

from __future__ import annotations

import json
import os
import shutil
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, TextIO

import typer

from tickwell.cli.output.text import escaped, fit, one_line, safe, width_of


@contextmanager
def progress(screen: Screen, label: str, length: int) -> Iterator[Callable[[int], None]]:
    """A function to be told of every step that is done."""
    if not screen.is_watched or length <= 0:
        yield lambda _: None
        return
    with typer.progressbar(length=length, label=label, file=screen.err) as bar:
        yield bar.update


#: Words that get a colour; never the only sign, for the word itself is there.
_STYLES = {
    **dict.fromkeys(("succeeded", "active", "executed", "alive", "ok"), "32"),
    **dict.fromkeys(("dead", "failed", "timed_out", "lost", "unanswered", "broken"), "31"),
    **dict.fromkeys(("running", "queued"), "36"),
    **dict.fromkeys(("paused", "parked", "blocked", "warning", "skipped"), "33"),
    **dict.fromkeys(("cancelled", "finished", "waiting", "upcoming", "excluded"), "2"),
}
#: Columns and lines that hold such words.
_COLOURED = {"STATE", "OUTCOME", "ANSWER", "LEVEL", "RESULT", "state"}
_GAP = "  "
#: A column is not made narrower than this.
_NARROWEST = 12
#: A last column that may go below its row does so where less than this is left for it.
_READABLE = 30
_BELOW = "    "


class Screen:
    """A terminal gets aligned tables and colours; a pipe gets tabs, full texts and exact times."""

    def __init__(
        self,
        out: TextIO | None = None,
        err: TextIO | None = None,
        environ: Mapping[str, str] = os.environ,
    ) -> None:
        self.out = out or sys.stdout
        self.err = err or sys.stderr
        self.is_terminal = self.out.isatty()
        self.is_watched = self.err.isatty()
        plain = bool(environ.get("NO_COLOR")) or environ.get("TERM") == "dumb"
        self.is_coloured = self.is_terminal and not plain
        self.width = shutil.get_terminal_size((100, 24)).columns

    def data(self, text: str) -> None:
        """A line of what was asked for."""
        self.out.write(f"{text}\n")

    def line(self, text: str) -> None:
        """Print a line of live data at once, without control characters."""
        self.data(safe(text))
        self.out.flush()

    def say(self, text: str) -> None:
        """A line for a person, out of the way of the data."""
        self.out.flush()
        self.err.write(f"{safe(text)}\n")
        self.err.flush()

    def json(self, document: Any) -> None:
        """A document as the API has it."""
        text = json.dumps(document, indent=2, ensure_ascii=False)
        self.data(escaped(text))

    def table(
        self,
        headings: Sequence[str],
        rows: Iterable[Sequence[str]],
        *,
        soft: Sequence[str],
        below: bool = False,
    ) -> None:
        """Rows under headings; `soft` names the columns that may be cut.

        With `below`, the last column gets a line of its own where too little room is left for it.
        """
        lines = [[one_line(cell) for cell in row] for row in rows]
        if not self.is_terminal:
            for line in lines:
                self.data("\t".join(line))
            return
        if not lines:
            return
        widths = [max(map(width_of, column)) for column in zip(headings, *lines, strict=True)]
        if below := below and self._left_for_last(widths) < min(widths[-1], _READABLE):
            widths, headings = widths[:-1], headings[:-1]
        self._shrink(widths, [headings.index(name) for name in soft if name in headings])
        self.data(self._style(self._line(headings, headings, widths), "1"))
        for line in lines:
            self.data(self._line(headings, line[: len(widths)], widths))
            if below and line[-1]:
                self.data(_BELOW + fit(line[-1], self.width - len(_BELOW)))

    def record(self, pairs: Iterable[tuple[str, str]]) -> None:
        """Names and values, one below the other; a value of several lines is indented."""
        known = [(name, value) for name, value in pairs if value]
        width = max((len(name) for name, _ in known), default=0)
        for name, value in known:
            if not self.is_terminal:
                self.data(f"{name}\t{one_line(value)}")
                continue
            first, *others = safe(value).splitlines() or [""]
            self.data(f"{self._style(name.ljust(width), '2')}{_GAP}{self._word(name, first)}")
            for line in others:
                self.data(f"{' ' * width}{_GAP}{line}")

    def heading(self, text: str) -> None:
        """Above a part of a page; a pipe does not get it."""
        if self.is_terminal:
            self.data("")
            self.data(self._style(text, "1"))

    def _line(self, headings: Sequence[str], cells: Sequence[str], widths: Sequence[int]) -> str:
        parts = []
        for heading, cell, width in zip(headings, cells, widths, strict=True):
            shown = fit(cell, width)
            parts.append(self._word(heading, shown) + " " * (width - width_of(shown)))
        return _GAP.join(parts).rstrip()

    def _left_for_last(self, widths: Sequence[int]) -> int:
        return self.width - sum(widths[:-1]) - len(_GAP) * (len(widths) - 1)

    def _shrink(self, widths: list[int], soft: Sequence[int]) -> None:
        """Take what is too much from the widest of the columns that may be cut."""
        if not soft:
            return
        excess = sum(widths) + len(_GAP) * (len(widths) - 1) - self.width
        while excess > 0:
            index = max(reversed(soft), key=lambda each: widths[each])
            if widths[index] <= _NARROWEST:
                return
            widths[index] -= 1
            excess -= 1

    def _word(self, heading: str, word: str) -> str:
        style = _STYLES.get(word) if heading in _COLOURED else None
        return word if style is None else self._style(word, style)

    def _style(self, text: str, style: str) -> str:
        return f"\x1b[{style}m{text}\x1b[0m" if self.is_coloured else text
