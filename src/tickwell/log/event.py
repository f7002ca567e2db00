"""A log event, and the sink that takes it.

As a library Tickwell leaves logging to the application: events go to the logger `tickwell`, with
their fields as attributes of the record. The service replaces the sink by its own output.
"""

from __future__ import annotations

import logging
import os
import socket
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from tickwell.log.headline import headline
from tickwell.log.text import block, one_line, value

#: In our own events made by us, of digits: nothing in them is to be left out.
_OURS = frozenset({"execution", "fire_time", "trace_id"})
LOGGER = logging.getLogger("tickwell")
#: In every line: which process writes it.
HOST = one_line(socket.gethostname())


@dataclass(frozen=True, slots=True)
class LogEvent:
    """One kind of line: a stable name, a level, a sentence, and the fields that it has."""

    name: str
    level: int
    #: For `str.format`, of the fields; `cause` is the last line of `error`.
    sentence: str
    fields: tuple[str, ...] = ()

    def log(self, level: int | None = None, /, **fields: Any) -> None:
        """Write the line, unless its level is not wanted; at another level if one is given."""
        level = self.level if level is None else level
        if _sink.wants(level):
            _sink.write(self, level, fields)


class Sink(Protocol):
    """Takes the lines of this process."""

    def wants(self, level: int) -> bool:
        """Whether lines of this level are written: else nothing is computed for them."""
        ...

    def write(self, event: LogEvent, level: int, fields: Mapping[str, Any]) -> None:
        """Write one line."""
        ...


class StandardSink:
    """Hands events to the standard library, for the handlers of the application."""

    def wants(self, level: int) -> bool:
        return LOGGER.isEnabledFor(level)

    def write(self, event: LogEvent, level: int, fields: Mapping[str, Any]) -> None:
        message, cleaned = render(event, fields)
        extra = {"event": event.name, **cleaned, "host": HOST, "pid": os.getpid()}
        LOGGER.log(level, "%s", message, extra=extra)


class _Words(dict[str, Any]):
    """Words of a sentence. One that is empty is a dash: no line may raise where it is logged."""

    def __missing__(self, name: str) -> str:
        return "-"


def render(event: LogEvent, values: Mapping[str, Any]) -> tuple[str, dict[str, Any]]:
    """The sentence of an event and its fields; other values serve the sentence only."""
    cleaned = clean(values, _OURS)
    error = str(cleaned.get("error", "")).strip()
    cause = headline(error) or "no error text"
    message = one_line(event.sentence.format_map(_Words(cleaned, cause=cause)))
    return message, {name: cleaned[name] for name in event.fields if name in cleaned}


def clean(fields: Mapping[str, Any], trusted: frozenset[str] = frozenset()) -> dict[str, Any]:
    """The fields that have a value, safe for a log. Only an error may have several lines."""
    return {
        name: raw if name in trusted else _cleaned(name, raw)
        for name, raw in fields.items()
        if raw is not None and raw != ""
    }


def _cleaned(name: str, raw: Any) -> Any:
    return block(str(raw)) if name == "error" else value(name, raw)


_sink: Sink = StandardSink()


def use_sink(sink: Sink) -> Callable[[], None]:
    """Write to this sink from now on; call what is returned to go back to the one before."""
    global _sink
    before, _sink = _sink, sink

    def back() -> None:
        global _sink  # noqa: PLW0603
        _sink = before

    return back


def wants(level: int) -> bool:
    """Whether lines of this level are written."""
    return _sink.wants(level)
