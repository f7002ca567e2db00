"""Values as columns hold them: enumerations as small numbers, documents as JSON text."""

from __future__ import annotations

import json
from collections.abc import Iterable
from functools import lru_cache
from json.scanner import make_scanner
from typing import Any, TypedDict, TypeVar

from tickwell.domain.backlog import Backlog
from tickwell.domain.backlog import from_document as backlog_from_document
from tickwell.domain.backlog import to_document as backlog_to_document
from tickwell.domain.execution import Kind, OutcomeKind, RangeSkip, Reason, State
from tickwell.domain.gate import Overlap
from tickwell.domain.job import Cursor, JobState, Pause, PauseScope
from tickwell.ids import is_id

try:
    import orjson
except ImportError:  # it comes with the server
    orjson = None  # type: ignore[assignment]

#: Before every id.
FIRST_ID = "00000000-0000-0000-0000-000000000000"


def clean(text: str | None) -> str | None:
    """Text without what would fail the batch that it is in: NUL, and lone surrogates."""
    if text is None:
        return None
    if not text.isascii():
        text = text.encode("utf-8", "replace").decode("utf-8")
    return text.replace("\0", "\N{REPLACEMENT CHARACTER}")


def document_to_text(document: Any) -> str:
    """A document as text."""
    return quick_json(document) or json.dumps(document)


def quick_json(value: Any) -> str | None:
    """JSON in a tenth of the time where orjson is installed, and can do it; else None."""
    if orjson is not None:
        try:
            return orjson.dumps(value).decode()
        except orjson.JSONEncodeError:  # half of a character, or a large number
            pass
    return None


def read_own_json(text: str) -> Any:
    """JSON of what we put into columns ourselves: quick, and without numbers beyond 64 bits."""
    return json.loads(text) if orjson is None else orjson.loads(text)


@lru_cache(maxsize=1024)
def tags_to_json(tags: tuple[str, ...]) -> str:
    """Tags, cleaned: the database takes them apart. Many jobs have the same."""
    return json.dumps([clean(tag) for tag in tags])


def ids_among(texts: Iterable[str]) -> list[str]:
    """Those that can be ids, each once."""
    return [text for text in dict.fromkeys(texts) if is_id(text)]


K = TypeVar("K")

#: A code is a member's place here. Rows hold it: append, never reorder.
STATES = (
    State.WAITING,
    State.BLOCKED,
    State.QUEUED,
    State.RUNNING,
    State.PARKED,
    State.SUCCEEDED,
    State.DEAD,
    State.CANCELLED,
    State.SKIPPED,
)
JOB_STATES = (JobState.ACTIVE, JobState.PAUSED, JobState.FINISHED, JobState.DELETED)
KINDS = (Kind.FIRE, Kind.REQUEST)
OVERLAPS = (
    Overlap.SKIP,
    Overlap.QUEUE_ONE,
    Overlap.QUEUE_ALL,
    Overlap.CANCEL_RUNNING,
    Overlap.ALLOW,
)
OUTCOMES = (
    OutcomeKind.SUCCEEDED,
    OutcomeKind.FAILED,
    OutcomeKind.TIMED_OUT,
    OutcomeKind.LOST,
    OutcomeKind.RELEASED,
    OutcomeKind.SNOOZED,
    OutcomeKind.CANCELLED,
    OutcomeKind.SKIPPED,
)
REASONS = (
    Reason.MISFIRE,
    Reason.OVERLAP,
    Reason.EXPIRED,
    Reason.QUOTA,
    Reason.WITHDRAWN,
    Reason.PAUSED,
    Reason.BY_PERSON,
    Reason.MAINTENANCE,
    Reason.BACKLOG,
)

STATE_CODE = {state: code for code, state in enumerate(STATES)}
JOB_STATE_CODE = {state: code for code, state in enumerate(JOB_STATES)}
KIND_CODE = {kind: code for code, kind in enumerate(KINDS)}
OVERLAP_CODE = {overlap: code for code, overlap in enumerate(OVERLAPS)}
OUTCOME_CODE = {outcome: code for code, outcome in enumerate(OUTCOMES)}
REASON_CODE = {reason: code for code, reason in enumerate(REASONS)}

WAITING, BLOCKED, QUEUED, RUNNING, PARKED, SUCCEEDED, DEAD, CANCELLED, SKIPPED = range(9)
ACTIVE, PAUSED, FINISHED, DELETED = range(4)
FIRE, REQUEST = range(2)
SKIP, QUEUE_ONE, QUEUE_ALL, CANCEL_RUNNING, ALLOW = range(5)
#: Which gate a pending execution stands before.
NO_GATE, JOB_GATE, KEY_GATE = range(3)

#: A row of the cursor table as `Cursor` has it, in this order.
CursorRow = tuple[int, int | None, int, int, int, bool, int | None, str | None]


#: Made once: `json.dumps` with options makes one for every call.
_dump = json.JSONEncoder(separators=(",", ":")).encode


def to_json(value: Any) -> str | None:
    """A value as JSON in ASCII, which every database can hold; none is no value."""
    if value is None:
        return None
    text = quick_json(value)
    return text if text is not None and text.isascii() else _dump(value)


#: `json.loads` looks for blanks before and after, which takes longer than a short text does.
_read = make_scanner(json.JSONDecoder())  # type: ignore[arg-type]


def from_json(text: str | None) -> Any:
    """The value of JSON text."""
    if text is None:
        return None
    try:
        value, end = _read(text, 0)
    except StopIteration:  # blanks before it, or no JSON
        return json.loads(text)
    return value if end == len(text) else json.loads(text)


def cursor_to_row(cursor: Cursor) -> CursorRow:
    """State, next_fire_time, after, runs, failures, nudged, paused_through, pause."""
    return (
        JOB_STATE_CODE[cursor.state],
        cursor.next_fire_time,
        cursor.after,
        cursor.runs,
        cursor.failures,
        cursor.nudged,
        cursor.paused_through,
        halts_to_json(cursor),
    )


def cursor_from_row(row: CursorRow) -> Cursor:
    """The cursor of a row."""
    state, next_fire_time, after, runs, failures, nudged, paused_through, halts = row
    return Cursor(
        state=JOB_STATES[state],
        next_fire_time=next_fire_time,
        after=after,
        runs=runs,
        failures=failures,
        nudged=bool(nudged),
        paused_through=paused_through,
        **halts_from_json(halts),
    )


def halts_to_json(cursor: Cursor) -> str | None:
    """What is stopped of the job, in one column: its pause, skipped fire times, and its backlog.

    Few jobs have any, and every plan carries it along: for the others it is nothing.
    """
    pause = cursor.pause
    if pause is None and not cursor.skipped and cursor.backlog is None:
        return None
    fields: dict[str, Any] = {}
    if pause is not None:
        fields = {"by": pause.by, "why": pause.why, "since": pause.since, "until": pause.until}
        if pause.scope is not PauseScope.JOB:
            fields["scope"] = pause.scope
    if cursor.skipped:
        fields["skipped"] = cursor.skipped
    if cursor.backlog is not None:
        fields["backlog"] = backlog_to_document(cursor.backlog)
    return json.dumps(fields, separators=(",", ":"))


class Halts(TypedDict, total=False):
    """Fields of a cursor that few jobs have."""

    pause: Pause
    skipped: tuple[int, ...]
    backlog: Backlog


def halts_from_json(text: str | None) -> Halts:
    """What that column says of the cursor."""
    found = Halts()
    if text is None:
        return found
    fields = json.loads(text)
    if "skipped" in fields:
        found["skipped"] = tuple(fields.pop("skipped"))
    if "backlog" in fields:
        found["backlog"] = backlog_from_document(fields.pop("backlog"))
    if "scope" in fields:
        fields["scope"] = PauseScope(fields["scope"])
    if fields:
        found["pause"] = Pause(**fields)
    return found


def moved_columns(cursor: Cursor) -> tuple[Any, ...]:
    """What a plan moves of a cursor: all but the failures."""
    state, next_fire_time, after, runs, _, nudged, paused_through, pause = cursor_to_row(cursor)
    return state, next_fire_time, after, runs, nudged, paused_through, pause


def skip_row(job: K, skip: RangeSkip, age: int) -> tuple[K, int, int, int, int, int]:
    """The parameters of `insert_skips`; it is kept as long as the job keeps its history."""
    reason = REASON_CODE[skip.reason]
    return job, skip.first, skip.last, skip.count, reason, skip.last + age


def skip_of(job_id: str, row: Any) -> RangeSkip:
    """The range skip of a row of `list_skips`."""
    first, last, count, reason = row
    return RangeSkip(job_id=job_id, first=first, last=last, count=count, reason=REASONS[reason])


def job_counts(rows: Iterable[tuple[int, int]]) -> dict[JobState, int]:
    """How many jobs are in each state but deleted, by the codes that rows have."""
    counts = dict(rows)
    live = ((code, state) for code, state in enumerate(JOB_STATES) if state is not JobState.DELETED)
    return {state: counts.get(code, 0) for code, state in live}
