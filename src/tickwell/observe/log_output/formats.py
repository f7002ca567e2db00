"""The formats of a log line: for people, as JSON, as logfmt. Each takes cleaned fields."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any

from structlog.typing import EventDict

Render = Callable[[Any, str, EventDict], bytes]
#: First in every line, in this order.
FIRST = ("timestamp", "level", "event", "message", "logger")
#: On a terminal these would hide what happened.
_QUIET = {
    *FIRST,
    *("error", "host", "pid", "project", "queue", "worker", "trace_id", "fire_time"),
}
_COLOURS = {"debug": "2", "info": "32", "warning": "33", "error": "31", "critical": "31;1"}


def as_json(_logger: Any, _method: str, fields: EventDict) -> bytes:
    """One JSON object."""
    return _dumps(in_order(fields))


def as_logfmt(_logger: Any, _method: str, fields: EventDict) -> bytes:
    """Pairs of key and value; what has spaces or quotes is quoted, line feeds are escaped."""
    pairs = (f"{_key(name)}={_value(each)}" for name, each in in_order(fields).items())
    return " ".join(pairs).encode("utf-8", "backslashreplace")


def console(*, colours: bool) -> Render:
    """Time, level and sentence, and what else a person needs.

    An error of several lines follows indented, so that none of them can pass for a line of ours.
    """

    def render(_logger: Any, _method: str, fields: EventDict) -> bytes:
        level = str(fields["level"])
        time = str(fields["timestamp"])[11:19]
        shown = f"{level.upper():<8}"
        if colours:
            shown = f"\x1b[{_COLOURS.get(level, '0')}m{shown}\x1b[0m"
        words = [time, shown, str(fields["message"])]
        if fields["event"] == "log":
            words += [
                f"{_key(name)}={_value(each)}"
                for name, each in fields.items()
                if name not in _QUIET
            ]
        text = " ".join(words)
        error = str(fields.get("error", ""))
        if "\n" in error:
            text += "".join(f"\n    {line}" for line in error.rstrip().split("\n"))
        return text.encode("utf-8", "backslashreplace")

    return render


def _make_dumps() -> Callable[[dict[str, Any]], bytes]:
    """By orjson, which comes with the server extra: a third of the time."""
    try:
        from orjson import dumps  # noqa: PLC0415
    except ImportError:
        return lambda line: json.dumps(line, ensure_ascii=False, separators=(",", ":")).encode()
    return dumps


_dumps = _make_dumps()


def in_order(fields: Mapping[str, Any]) -> dict[str, Any]:
    """What all lines have comes first."""
    first = {name: fields[name] for name in FIRST if name in fields}
    return {**first, **{name: each for name, each in fields.items() if name not in first}}


def _key(name: str) -> str:
    return "".join("_" if each in ' ="' or not each.isprintable() else each for each in name)


def _value(raw: Any) -> str:
    if raw is None:
        return ""
    if isinstance(raw, bool):
        return "true" if raw else "false"
    text = str(raw)
    if text and not any(each in text for each in ' ="\n\t\\'):
        return text
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return '"' + escaped.replace("\n", "\\n").replace("\t", "\\t") + '"'
