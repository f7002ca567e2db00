"""What handlers print and log, attempt by attempt.

Nothing is installed for an attempt but a context variable: a print or a log record looks it up,
so a handler that prints nothing costs nothing.
"""

from __future__ import annotations

import logging
import sys
from collections import deque
from collections.abc import Callable
from contextvars import ContextVar
from itertools import count
from threading import RLock
from typing import Any

from tickwell.domain.current import CURRENT_CLAIM, mark
from tickwell.domain.execution import Claim
from tickwell.domain.note import MOST_CHARACTERS, MOST_LINES, Line
from tickwell.log.text import redacted

#: A handler may print in many threads, and a finalizer in the midst of a print. One for all
#: attempts: most print nothing, and need none.
_LOCK = RLock()


class Output:
    """The last lines of one attempt."""

    __slots__ = (
        "_characters",
        "_numbers",
        "_partial",
        "claim",
        "closed",
        "is_unwritten",
        "lines",
        "on_line",
        "sink",
    )

    def __init__(
        self,
        sink: Callable[[str], None] | None = None,
        on_line: Callable[[Output], None] | None = None,
        claim: Claim | None = None,
    ) -> None:
        #: Whose they are.
        self.claim = claim
        #: Made by the first line: most attempts print nothing. Each has its number, so that a copy
        #: of them says which they are whatever a thread adds meanwhile.
        self.lines: deque[Line] | None = None
        #: Called from the thread that prints, with a line that comes after all were looked at.
        self.on_line = on_line
        #: The attempt has ended: what is still printed in its name is dropped.
        self.closed = False
        #: In a child process, lines go to the parent instead.
        self.sink = sink
        self._characters = 0
        self._partial = ""

    def write(self, text: str) -> None:
        """Take what was printed; a line is kept when it ends."""
        if self.closed:
            return
        with _LOCK:
            *whole, self._partial = (self._partial + text).split("\n")
        for line in whole:
            self.add(line)
        if len(self._partial) > MOST_CHARACTERS:
            self.flush()

    def add(self, line: str) -> None:
        """Keep a line, without what looks like a secret; the oldest make room."""
        if self.closed:
            return
        line = line[:MOST_CHARACTERS]
        if self.sink is not None:
            self.sink(line)
            return
        line = redacted(line)
        with _LOCK:
            if self.lines is None:
                # The rest as well: an attempt that prints nothing does not pay for it.
                self._numbers, self.is_unwritten = count(), False
                self.lines = deque()
            self.lines.append((next(self._numbers), line))
            self._characters += len(line)
            while len(self.lines) > MOST_LINES or self._characters > MOST_CHARACTERS:
                self._characters -= len(self.lines.popleft()[1])
            is_first = self.on_line is not None and not self.is_unwritten
            self.is_unwritten = self.is_unwritten or is_first
        if self.on_line is not None and is_first:
            self.on_line(self)

    def snapshot(self) -> list[Line]:
        """The lines that are kept, oldest first; from any thread."""
        return [] if self.lines is None else list(self.lines)

    def flush(self) -> None:
        """Keep a last line that has no end."""
        with _LOCK:
            partial, self._partial = self._partial, ""
        if partial:
            self.add(partial)

    def close(self) -> list[Line]:
        """The attempt has ended: its lines, oldest first."""
        if self._partial:
            self.flush()
        self.closed = True
        return self.snapshot()


#: Of the attempt under way in this task or thread.
CURRENT: ContextVar[Output | None] = ContextVar("output", default=None)


class _Tee:
    """Standard output that an attempt's prints are heard on."""

    def __init__(self, stream: Any) -> None:
        self._stream = stream

    def write(self, text: str) -> int:
        output = CURRENT.get()
        if output is not None:
            output.write(text)
        return self._stream.write(text)  # type: ignore[no-any-return]

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)


def _hearing(make: Callable[..., logging.LogRecord]) -> Callable[..., logging.LogRecord]:
    """A maker of log records that tells the attempt of each one.

    Not a handler: one on the root logger would keep `basicConfig` from doing anything.
    """

    def record(*args: Any, **options: Any) -> logging.LogRecord:
        made = make(*args, **options)
        if (claim := CURRENT_CLAIM.get()) is not None:
            mark(made, claim)
        output = CURRENT.get()
        if output is not None:
            output.add(_in_words(made))
        return made

    return record


def _in_words(record: logging.LogRecord) -> str:
    try:
        text = f"{record.levelname} {record.getMessage()}"
    except Exception:  # noqa: BLE001 - a line that cannot be formatted is reported by its handler
        text = f"{record.levelname} {record.msg}"
    if record.exc_info and record.exc_info[1] is not None:
        text += f" ({record.exc_info[1]!r})"
    return text


class Listening:
    """Hears prints and log records in this process, for as many as asked for it."""

    def __init__(self) -> None:
        self._users = 0
        #: How many of them listen on the standard output of today.
        self._on_tee = 0
        self._tee: _Tee | None = None
        self._make: Callable[..., logging.LogRecord] | None = None
        self._heard: Callable[..., logging.LogRecord] | None = None

    def start(self) -> None:
        """Begin to listen, unless somebody did; standard output may be another one since."""
        self._users += 1
        if self._tee is None or sys.stdout is not self._tee:
            self._tee, self._on_tee = _Tee(sys.stdout), 0
            sys.stdout = self._tee
        self._on_tee += 1
        if self._users > 1:
            return
        self._make = logging.getLogRecordFactory()
        self._heard = _hearing(self._make)
        logging.setLogRecordFactory(self._heard)

    def stop(self) -> None:
        """Leave everything as it was, unless somebody else has replaced it since."""
        self._users -= 1
        self._on_tee -= 1
        if self._tee is not None and self._on_tee <= 0 and sys.stdout is self._tee:
            sys.stdout = self._tee._stream  # noqa: SLF001 - its own
        if self._users:
            return
        if self._make is not None and logging.getLogRecordFactory() is self._heard:
            logging.setLogRecordFactory(self._make)


LISTENING = Listening()
