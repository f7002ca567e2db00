"""The alternate screen of a terminal: frames replace each other, and the old screen comes back."""

from __future__ import annotations

import asyncio
import io
import shutil
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TextIO

from tickwell.cli.output.screen import Screen

#: Switch to the alternate screen, hide the cursor, cut long lines instead of wrapping them.
_ENTER = "\x1b[?1049h\x1b[?25l\x1b[?7l"
_LEAVE = "\x1b[?7h\x1b[?25h\x1b[?1049l"
#: To the upper left; erase the rest of the line; erase everything below.
_HOME, _REST, _BELOW = "\x1b[H", "\x1b[K", "\x1b[J"


class Page(io.StringIO):
    """Text that is laid out as for a terminal."""

    def isatty(self) -> bool:
        """Aligned columns and headings."""
        return True


class AlternateScreen:
    """Draws frames until the user leaves with Ctrl-C."""

    def __init__(self, out: TextIO) -> None:
        self.out = out
        #: The user wants to leave.
        self.left = asyncio.Event()
        #: Draw again now.
        self.stirred = asyncio.Event()

    @contextmanager
    def entered(self) -> Iterator[None]:
        """Use the alternate screen, and leave the terminal as it was."""
        loop = asyncio.get_running_loop()
        handlers: dict[signal.Signals, Callable[[], None]] = {
            signal.SIGINT: self.leave,
            signal.SIGTERM: self.leave,
            signal.SIGWINCH: self.stirred.set,
        }
        for number, handler in handlers.items():
            loop.add_signal_handler(number, handler)
        self._write(_ENTER)
        try:
            yield
        finally:
            self._write(_LEAVE)
            for number in handlers:
                loop.remove_signal_handler(number)

    def leave(self) -> None:
        """Draw no more."""
        self.left.set()
        self.stirred.set()

    def draw(self, show: Callable[[Screen, int], None]) -> None:
        """Replace the frame in one write, without clearing first: that would flicker."""
        lines = shutil.get_terminal_size((100, 24)).lines
        page = Page()
        show(Screen(out=page), lines)
        shown = page.getvalue().splitlines()[:lines]
        self._write(_HOME + "\n".join(f"{line}{_REST}" for line in shown) + _BELOW)

    async def rest(self, seconds: float) -> None:
        """Wait for so long, for a change of the terminal's size, or until the user leaves."""
        waiting = asyncio.create_task(self.stirred.wait())
        await asyncio.wait([waiting], timeout=seconds)
        waiting.cancel()
        self.stirred.clear()

    def _write(self, text: str) -> None:
        self.out.write(text)
        self.out.flush()
