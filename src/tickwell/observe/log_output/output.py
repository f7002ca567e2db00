"""The log of a service: its own events, and what its libraries and handlers log."""

from __future__ import annotations

import atexit
import logging
import os
import sys
import traceback
from collections.abc import Mapping
from typing import Any

import structlog
from structlog.typing import EventDict

from tickwell.log import events as lines
from tickwell.log.event import HOST, LogEvent, clean, render, use_sink
from tickwell.log.text import one_line, spelled, without_token
from tickwell.observe.log_output.child import note_started
from tickwell.observe.log_output.formats import Render, as_json, as_logfmt, console
from tickwell.observe.log_output.writer import Writer

#: Seconds that lines get to be written when the process ends.
GOODBYE = 2.0
#: Drivers that log what they send at debug, payloads among it.
_NEVER_DEBUG = (
    *("asyncio", "aiohttp", "asyncmy", "pymongo", "redis", "amqp", "kombu", "celery", "urllib3"),
    *("httpcore", "httpx"),
)
#: Logs every export that fails, every few seconds while the collector is away.
_OPENTELEMETRY = "opentelemetry"
_REMINDER = 60.0
_OWN_ATTRIBUTES = frozenset(vars(logging.makeLogRecord({}))) | {
    *("message", "asctime", "event"),
    "color_message",  # of uvicorn: the same with colours
}
#: Fields that every line has, and names that structlog's own arguments have.
_RESERVED = frozenset({"level", "timestamp", "host", "pid", "logger", "self", "method_name"})


class LogOutput:
    """The sink of a process whose log is ours: writes every line to one descriptor."""

    def __init__(self, format: str, level: str, descriptor: int, *, colours: bool = False) -> None:
        self.format = format
        self.level_name = level
        self.level = logging.getLevelNamesMapping()[level.upper()]
        renderers: dict[str, Render] = {"json": as_json, "logfmt": as_logfmt}
        self._render = renderers.get(format) or console(colours=colours)
        self._stamp = structlog.processors.TimeStamper(fmt="iso", utc=True, key="timestamp")
        self._writer = Writer(descriptor, self._dropped)
        self._logger = structlog.wrap_logger(
            self._writer,
            processors=[structlog.processors.add_log_level, self._stamp, _of_process, self._render],
            wrapper_class=structlog.make_filtering_bound_logger(self.level),
            cache_logger_on_first_use=True,
        ).bind()

    def wants(self, level: int) -> bool:
        return level >= self.level

    def write(self, event: LogEvent, level: int, fields: Mapping[str, Any]) -> None:
        message, cleaned = render(event, fields)
        self._logger.log(level, event.name, message=message, **cleaned)

    def foreign(self, record: logging.LogRecord) -> None:
        """Write what a library or a handler logged."""
        if record.name == "uvicorn.access" and isinstance(record.args, tuple):
            client, method, path, _, status = record.args
            # What follows the path may be a secret: a link that logs in.
            path = without_token(str(path).partition("?")[0])
            lines.HTTP_REQUEST.log(client=client, method=method, path=path, status=status)
            return
        fields = {
            name: raw
            for name, raw in vars(record).items()
            if name not in _OWN_ATTRIBUTES and not name.startswith("_")
        }
        fields = {"error": _traceback(record), **fields} if record.exc_info else fields
        cleaned = {
            f"{name}_" if name in _RESERVED else one_line(name): raw
            for name, raw in clean(fields).items()
        }
        given_name = getattr(record, "event", None)
        name = one_line(given_name) if isinstance(given_name, str) else lines.LINE.name
        message = one_line(_message(record))
        cleaned["logger"] = one_line(record.name)
        self._logger.log(_known_level(record.levelno), name, message=message, **cleaned)

    def plain(self, line: str) -> None:
        """Write a line for a person at the terminal, who is to see the first key once."""
        self._writer.msg(spelled(line).encode())

    def close(self) -> None:
        """Write what waits."""
        self._writer.close(GOODBYE)

    def _dropped(self, count: int) -> bytes:
        event = lines.LINES_DROPPED
        fields: EventDict = {
            "event": event.name,
            "level": logging.getLevelName(event.level).lower(),
            "message": render(event, {"count": count})[0],
            "count": count,
        }
        fields = _of_process(None, "", self._stamp(None, "", fields))
        return self._render(None, "", fields)


class ForeignHandler(logging.Handler):
    """Brings the records of the standard library into our log."""

    def __init__(self, output: LogOutput) -> None:
        super().__init__()
        self.output = output

    def emit(self, record: logging.LogRecord) -> None:
        """Write it; a record that cannot be written must not harm the code that logs."""
        try:
            self.output.foreign(record)
        except Exception:  # noqa: BLE001
            self.output.plain(f"a log record of {record.name} cannot be written")


class _OnceAMinute(logging.Filter):
    """Lets the same line pass once a minute."""

    def __init__(self) -> None:
        super().__init__()
        self._logged: dict[tuple[str, int], float] = {}

    def filter(self, record: logging.LogRecord) -> bool:
        location, now = (record.pathname, record.lineno), record.created
        if now - self._logged.get(location, float("-inf")) < _REMINDER:
            return False
        self._logged[location] = now
        return True


def start_log(format: str, level: str, *, descriptor: int | None = None) -> LogOutput:
    """Make this process's log ours: our events, the standard library's, and structlog's.

    Only for a process that is the service. An application that embeds a scheduler decides itself.
    """
    is_terminal = sys.stderr.isatty()
    format = format or ("console" if is_terminal else "json")
    output = LogOutput(
        format,
        level,
        sys.stderr.fileno() if descriptor is None else descriptor,
        colours=is_terminal and "NO_COLOR" not in os.environ,
    )
    use_sink(output)
    atexit.register(output.close)
    note_started(format, level)
    handler = ForeignHandler(output)
    logging.basicConfig(level=output.level, handlers=[handler], force=True)
    logging.captureWarnings(capture=True)
    if output.level > logging.DEBUG:  # it tells of its start and stop, which we do
        logging.getLogger("uvicorn.error").setLevel(logging.WARNING)
    for name in _NEVER_DEBUG:
        logging.getLogger(name).setLevel(max(output.level, logging.INFO))
    handler.addFilter(_opentelemetry_filter())
    if not structlog.is_configured():
        _bring_structlog()
    return output


def _opentelemetry_filter() -> Any:
    once = _OnceAMinute()
    return lambda record: not record.name.startswith(_OPENTELEMETRY) or once.filter(record)


def _bring_structlog() -> None:
    """Lines that handlers log with structlog, unless their application configures it."""
    structlog.configure(
        processors=[
            structlog.contextvars.merge_contextvars,
            structlog.stdlib.filter_by_level,
            _to_standard,
        ],
        logger_factory=structlog.stdlib.LoggerFactory(),
        wrapper_class=structlog.stdlib.BoundLogger,
        cache_logger_on_first_use=False,
    )


def _to_standard(
    _logger: Any, _method: str, fields: EventDict
) -> tuple[tuple[str, object], dict[str, Any]]:
    """Arguments for the standard library, which refuses the names of its own attributes."""
    known = {name: fields.pop(name) for name in ("exc_info", "stack_info") if name in fields}
    message = fields.pop("event", "")
    extra = {f"{name}_" if name in _OWN_ATTRIBUTES else name: each for name, each in fields.items()}
    return ("%s", message), {"extra": extra, **known}


def _of_process(_logger: Any, _method: str, fields: EventDict) -> EventDict:
    fields["host"], fields["pid"] = HOST, os.getpid()
    return fields


def _message(record: logging.LogRecord) -> str:
    try:
        return record.getMessage()
    except Exception:  # noqa: BLE001 - arguments that do not fit their message
        return str(record.msg)


def _traceback(record: logging.LogRecord) -> str:
    if record.exc_info and record.exc_info[1] is not None:
        return "".join(traceback.format_exception(record.exc_info[1]))
    return ""


def _known_level(level: int) -> int:
    """The next lower level that has a name here."""
    known = (logging.CRITICAL, logging.ERROR, logging.WARNING, logging.INFO, logging.DEBUG)
    return next((each for each in known if level >= each), logging.DEBUG)
