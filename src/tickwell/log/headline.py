"""The one line that stands for an error of several lines, in a log, a list or a group."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

#: Where the last traceback of a chain begins: those inside of a group are indented further.
_BEGINNINGS = ("Traceback", "  + Exception Group Traceback")
#: A group that was not raised has no traceback.
_BARE = "  | "
#: What Python draws to the left of the exceptions of a group.
_MARGIN = re.compile(r" *\| ?")
_RULE = re.compile(r" *\+[-+]+")
#: The message of a group says nothing of what went wrong in it.
_GROUP = re.compile(r"\([0-9]+ sub-exceptions?\)$")
_HEADINGS = ("Traceback", "Exception Group Traceback")


def headline(error: str) -> str:
    """The line that says what went wrong: the first, or in a traceback the one after the frames.

    Of an exception group, its own line and that of the first exception in it.
    """
    lines = [line for line in error.splitlines() if line.strip()] or [error]
    if "Traceback" not in lines[0] and not lines[0].startswith(("…", _BARE)):
        return lines[0].strip()
    after = 0 if lines[0].startswith(_BARE) else 1
    after = max(
        (n for n, line in enumerate(lines, 1) if line.startswith(_BEGINNINGS)), default=after
    )
    messages = _messages(lines[after:])
    found = next(messages, lines[-1].strip())
    if not _GROUP.search(found):
        return found
    cause = next((each for each in messages if not _GROUP.search(each)), None)
    return found if cause is None else f"{found}: {cause}"


def _messages(lines: Sequence[str]) -> Iterator[str]:
    """The lines that are neither headings nor frames: exceptions, and what else they say."""
    for line in lines:
        if _RULE.match(line):
            continue
        text = _MARGIN.sub("", line, count=1) if _MARGIN.match(line) else line
        if text.strip() and not text.startswith((" ", *_HEADINGS)):
            yield text.strip()
