"""The service's log: formats, secrets, control characters, and a pipe that nobody reads."""

import json
import logging
import os
import re
import shlex
import threading

import pytest
import structlog

from tests.observe.reports import finished
from tickwell.domain.event import JobPaused, Parked
from tickwell.domain.execution import OutcomeKind
from tickwell.log.event import use_sink
from tickwell.log.text import LONGEST, block, one_line, redacted
from tickwell.observe.log_output.output import ForeignHandler, LogOutput
from tickwell.observe.log_output.writer import MOST_WAITING, Writer
from tickwell.observe.logs import EventLog

FORMATS = ("console", "json", "logfmt")
#: The secret, and a text that holds it.
SECRETS = [
    ("hunter2", "connection to postgresql://app:hunter2@db/jobs refused"),
    ("hunter2", "redis://:hunter2@cache:6379"),
    ("p4ss", 'body: {"password": "p4ss", "user": "x"}'),
    ("p4ss", "api_key=p4ss&x=1"),
    ("p4ss", "X-Api-Key: p4ss"),
    ("p4ss", "client_secret='p4ss'"),
    ("k" * 43, f"key tw_{'a' * 16}_{'k' * 43} was refused"),
    ("c2VjcmV0MTIz", "whsec_c2VjcmV0MTIz"),
    ("abc.def", "Authorization: Bearer abc.def.ghi"),
    ("dXNlcjpwYXNz", "Basic dXNlcjpwYXNz"),
    ("c2ln", "token eyJhbGciOi.eyJzdWIi.c2ln"),
    ("t0ken", "GET /login?link=t0ken&x=1"),
    ("p4ss", "Authorization: ApiKey p4ss"),
    ("p4ss", "Cookie: theme=dark; sid=p4ss"),
    ("p4ss", 'password="p4ss and no end'),
    ("p4ss", r'{"password": "a\"p4ss"}'),
    ("p4ss", "PASSWORD=p4ss"),
    ("p4ss", "the pwd: p4ss"),
    ("p4ss", "passphrase=p4ss"),
    ("p4ss", "credentials: p4ss"),
    ("c2VjcmV0MTIz", "whsk_c2VjcmV0MTIz"),
    ("dXNlcjpwYXNz", "Digest dXNlcjpwYXNz"),
    ("c2ln", "GET /hook?SIG=c2ln"),
    ("MIIE", "-----BEGIN PRIVATE KEY-----\nMIIE\n-----END PRIVATE KEY-----"),
]
#: C0, DEL, C1, separators of lines, a change of direction, half of a character.
CONTROLS = [
    "\x1b[2J",
    "\x07",
    "\x7f",
    "\x85",
    "\x9b31m",
    "\u2028",
    "\u202e",
    "\ud800",
    "\r",
    "\x00",
]


#: Without a parent: a report of pytest with half a character in it could not be sent.
SHOP = logging.Logger("shop")  # noqa: LOG001


class Log:
    """A log in a pipe."""

    def __init__(self, format):
        self._reader, writer = os.pipe()
        self._writer = writer
        self.output = LogOutput(format, "debug", writer)

    def lines(self):
        """All that was written; the log is closed."""
        self.output.close()
        os.close(self._writer)
        with os.fdopen(self._reader, "rb") as stream:
            return stream.read().decode().splitlines()


@pytest.fixture
def log(request):
    log = Log(request.param)
    back = use_sink(log.output)
    handler = ForeignHandler(log.output)
    SHOP.addHandler(handler)
    yield log
    SHOP.removeHandler(handler)
    back()


@pytest.fixture
def each_way():
    """A text as an error, as a field, and in lines of handlers."""

    def write(text):
        EventLog().hear(finished(OutcomeKind.FAILED, 3, error=text))
        EventLog().hear(Parked(ability=text, executions=1, reason="nobody"))
        EventLog().hear(JobPaused(job="report", why=text))
        of_ours = dict.fromkeys(("why", "execution", "fire_time", "trace_id"), text)
        child = logging.Logger(f"shop.{text}")  # noqa: LOG001 - as SHOP
        child.parent = SHOP
        child.warning("said %s", text, extra=of_ours)
        try:
            raise ValueError(text)  # noqa: TRY301
        except ValueError:
            SHOP.exception("it failed")

    return write


@pytest.mark.parametrize("log", FORMATS, indirect=True)
@pytest.mark.parametrize(("secret", "text"), SECRETS)
def test_no_secret_reaches_a_log(log, each_way, secret, text):
    each_way(text)
    written = "\n".join(log.lines())
    assert "report" in written
    assert secret not in written


@pytest.mark.parametrize("log", FORMATS, indirect=True)
@pytest.mark.parametrize("control", CONTROLS, ids=ascii)
def test_no_control_character_reaches_a_log(log, each_way, control):
    each_way(f"one {control} two")
    written = "\n".join(log.lines())
    left = set(re.findall("[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\u202e]", written))
    assert left == set()
    for line in written.split("\n") if log.output.format == "json" else ():
        assert "\x9b" not in str(json.loads(line))
        assert "\x1b" not in str(json.loads(line))


@pytest.mark.parametrize("log", FORMATS, indirect=True)
@pytest.mark.parametrize("end", ["\n", "\r", "\r\n", "\x0b", "\x85", "\u2028"], ids=ascii)
def test_no_text_of_others_forges_a_line(log, each_way, end):
    forged = "09:00:00 WARNING  all is well"
    each_way(f"no{end}{forged}")
    lines = log.lines()
    assert not any(line.startswith(("09:00:00", forged)) for line in lines)
    starts = [line for line in lines if not line.startswith("    ")]
    assert len(starts) == 6
    if log.output.format != "console":
        assert len(lines) == 6


@pytest.mark.parametrize("log", ["json"], indirect=True)
def test_json_has_the_fields_of_the_event(log):
    EventLog().hear(finished(OutcomeKind.FAILED))
    (line,) = map(json.loads, log.lines())
    assert list(line)[:4] == ["timestamp", "level", "event", "message"]
    assert (line["event"], line["level"], line["attempt"]) == ("execution_failed", "warning", 1)
    assert line["error"] == "Traceback …\nOSError: no route"
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d+Z", line["timestamp"])
    assert line["pid"] == os.getpid()


@pytest.mark.parametrize("log", ["logfmt"], indirect=True)
def test_logfmt_can_be_taken_apart(log):
    EventLog().hear(finished(OutcomeKind.FAILED, name='a "b" c=d'))
    (line,) = log.lines()
    pairs = dict(part.split("=", 1) for part in shlex.split(line))
    assert (pairs["event"], pairs["job"]) == ("execution_failed", 'a "b" c=d')
    assert pairs["error"] == r"Traceback …\nOSError: no route"


@pytest.mark.parametrize("log", ["console"], indirect=True)
def test_on_a_terminal_a_line_is_a_sentence(log):
    EventLog().hear(finished(OutcomeKind.FAILED, 3))
    failed, *dead = log.lines()
    time = r"\d\d:\d\d:\d\d"
    assert re.fullmatch(rf"{time} WARNING  report failed, attempt 3 of .*no route", failed)
    assert re.fullmatch(rf"{time} ERROR    report died \(3 of 3 attempts\), .*no route", dead[0])
    assert dead[1:] == ["    Traceback …", "    OSError: no route"]


@pytest.mark.parametrize("log", ["json"], indirect=True)
def test_a_request_s_line_has_no_query(log):
    record = logging.makeLogRecord(
        {
            "name": "uvicorn.access",
            "levelno": 20,
            "args": ("1.2.3.4:5", "GET", "/login?link=abc", "1.1", 200),
        }
    )
    log.output.foreign(record)
    (line,) = map(json.loads, log.lines())
    assert (line["event"], line["path"], line["status"]) == ("http_request", "/login", 200)


@pytest.mark.parametrize("log", ["json"], indirect=True)
def test_arguments_that_do_not_fit_harm_nobody(log):
    log.output.foreign(
        logging.makeLogRecord({"name": "shop", "msg": "%d", "args": ("x",), "levelno": 30})
    )
    (line,) = map(json.loads, log.lines())
    assert (line["event"], line["message"], line["logger"]) == ("log", "%d", "shop")


def test_what_is_no_secret_stays():
    for text in (
        "its secrets: the store does not answer",
        "http://host:8080/path is not there",
        "basic checks passed",
        "monkey: not found",
    ):
        assert redacted(text) == text


@pytest.mark.parametrize("shown", [one_line, block])
def test_no_part_of_a_secret_is_left_where_a_text_is_cut(shown):
    key = f"tw_{'a' * 16}_{'k' * 43}"
    for start in (LONGEST - 30, LONGEST + 1024 - 30):
        assert "kk" not in shown(f"password={'p' * 500} ".ljust(start) + key + " " * 2000)


@pytest.mark.parametrize("part", ["a.", "-eyJ", "password-", "://a:", "token='", "Cookie: "])
def test_no_text_takes_long_to_read(part):
    # With one pattern whose time grows with the square of the length, each takes 10 to 40 s.
    one_line(f"key :// {part * LONGEST}")


@pytest.mark.parametrize("log", FORMATS, indirect=True)
def test_fields_of_any_name_and_size_are_written(log):
    extra = {"self": 1, "method_name": 2, "level": 3, "count": 2**70}
    SHOP.warning("odd", extra=extra)
    (line,) = log.lines()
    assert str(2**70) in line


def test_a_pipe_that_nobody_reads_holds_nobody_up():
    reader, descriptor = os.pipe()
    writer = Writer(descriptor, lambda count: b"dropped %d" % count)
    line = b"x" * 1024
    for _ in range(2 * MOST_WAITING // len(line)):  # would block for ever by itself
        writer.msg(line)
    seen = b""
    while b"dropped" not in seen:
        seen = seen[-100:] + os.read(reader, 65536)
        writer.msg(b"after")
    count = int(seen.partition(b"dropped ")[2].split()[0])
    assert count >= MOST_WAITING // len(line) - 65536
    drain = threading.Thread(
        target=lambda: [None for _ in iter(lambda: os.read(reader, 65536), b"")]
    )
    drain.start()
    writer.close(10)
    os.close(descriptor)
    drain.join()
    os.close(reader)


def test_a_closed_pipe_or_a_full_disk_costs_lines_only():
    reader, descriptor = os.pipe()
    os.close(reader)
    writer = Writer(descriptor, lambda count: b"dropped %d" % count)
    writer.msg(b"lost")
    writer.close(10)
    os.close(descriptor)
    with open("/dev/full", "wb", buffering=0) as full:  # noqa: PTH123
        writer = Writer(full.fileno(), lambda count: b"dropped %d" % count)
        writer.msg(b"lost")
        writer.close(10)


def test_structlog_lines_of_handlers_become_records(caplog):
    from tickwell.observe.log_output.output import _bring_structlog

    before = structlog.get_config()
    try:
        _bring_structlog()
        structlog.get_logger("shop").warning("packed", order=5, name="x")
    finally:
        structlog.configure(**before)
    (record,) = caplog.records
    assert (record.getMessage(), record.order, record.name_) == ("packed", 5, "x")
