"""The way back from a document to a trigger."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from datetime import datetime
from typing import Any, TypedDict

from tickwell.domain.trigger.all_of import AllOf
from tickwell.domain.trigger.any_of import AnyOf
from tickwell.domain.trigger.business_days import BusinessDays
from tickwell.domain.trigger.calendar import Calendar
from tickwell.domain.trigger.calendar_every import UNITS, CalendarEvery
from tickwell.domain.trigger.cron import Cron
from tickwell.domain.trigger.custom import custom_trigger
from tickwell.domain.trigger.duration import Millis
from tickwell.domain.trigger.every import Every
from tickwell.domain.trigger.on_demand import OnDemand
from tickwell.domain.trigger.once import Once
from tickwell.domain.trigger.phrase import when
from tickwell.domain.trigger.reader import Reader, placed
from tickwell.domain.trigger.rrule import RRule
from tickwell.domain.trigger.several import Several
from tickwell.domain.trigger.trigger import Trigger
from tickwell.domain.trigger.window import Window
from tickwell.domain.trigger.work import is_tried, one_reading, trial
from tickwell.errors import InvalidTrigger

_EXAMPLE = '{"cron": "0 9 * * mon-fri", "tz": "Europe/Rome"}'
_MOMENT = "2026-11-15T09:00:00Z"
_WINDOW = '{"days": "mon-fri", "from": "09:00", "to": "17:00"}'
_CALENDAR = '{"name": "holidays", "dates": ["2026-12-25"]}'
_BUSINESS_DAYS = '{"shift": "next", "weekend": "sat,sun"}'
_CUSTOM = '{"name": "sunrise", "args": {"latitude": 41.9}}'
#: A union in a union in a union: deeper is an attack on the stack.
_DEEPEST = 4
#: Triggers of a document, equal ones counted each: more are not even read. A union takes fewer.
_MOST_READ = 512


def read_trigger(document: object, path: str, depth: int = 0) -> Trigger:
    """The trigger that a document describes, itself found at a path of a larger one."""
    reader = Reader(document, path, _EXAMPLE)
    kinds = [kind for kind in _KINDS if reader.has(kind)]
    if len(kinds) != 1:
        reason = f"needs one of {', '.join(_KINDS)}"
        if kinds:
            reason = f"{' and '.join(kinds)} are mutually exclusive"
        raise InvalidTrigger(reason, field=path, hint=f"For example: {_EXAMPLE}")
    with placed("", path), one_reading():
        try:
            return _KINDS[kinds[0]](Reader(document, "", _EXAMPLE), depth)
        except InvalidTrigger as error:
            if depth or not isinstance(document, Mapping):
                raise
            raise error.along_with(_further(document, kinds[0], error)) from None


def _further(
    document: Mapping[str, Any], kind: str, error: InvalidTrigger
) -> Iterator[InvalidTrigger]:
    """What else is wrong: the trigger is read again without each field that was refused."""
    left = dict(document)
    for _ in document:
        refused = error.field.partition(".")[0]
        if refused not in left:
            return
        if refused in {kind, "dialect"}:  # an expression is judged by its dialect
            if kind not in _RIGHT or left[kind] is _RIGHT[kind]:
                return
            left[kind] = _RIGHT[kind]
            left.pop("dialect", None)
        else:
            del left[refused]
        try:
            _KINDS[kind](Reader(left, "", _EXAMPLE), 0)
        except InvalidTrigger as found:
            error = found
            yield error
        else:
            return


def _cron(reader: Reader, depth: int) -> Trigger:
    del depth
    expr = reader.text("cron", "0 9 * * mon-fri", "")
    dialect: Any = reader.text("dialect", "quartz", "cron")
    zoned, common = _zoned(reader), _common(reader)
    return Cron(expr or "", dialect=dialect, **zoned, **common)


def _every(reader: Reader, depth: int) -> Trigger:
    del depth
    period = reader.duration("every")
    after: Any = reader.text("after", "finish", "fire")
    phase = reader.duration("phase")
    return Every(period, after=after, phase=phase, **_common(reader))


def _calendar_every(reader: Reader, depth: int) -> Trigger:
    del depth
    period = Reader(reader.take("calendar_every"), "calendar_every", '{"months": 2}')
    units = {name: period.whole(name, "2") or 0 for name in UNITS}
    period.close()
    example = "2026-01-31T09:00:00"
    anchor = reader.moment("anchor", example)
    if anchor is None:
        reader.refuse("anchor", "is missing: the first fire, as wall time", example)
    zoned, common = _zoned(reader), _common(reader)
    return CalendarEvery(**units, anchor=anchor, **zoned, **common)


def _once(reader: Reader, depth: int) -> Trigger:
    del depth
    at = reader.moment("once", _MOMENT)
    common = _common(reader)
    return Once(at, **common)  # type: ignore[arg-type]  # read_trigger saw that it is there


def _on_demand(reader: Reader, depth: int) -> Trigger:
    del depth
    if reader.take("on_demand") is not True:
        reader.refuse("on_demand", "can only be true", '{"on_demand": true}')
    return OnDemand(**_common(reader))


def _any_of(reader: Reader, depth: int) -> Trigger:
    return _several(reader, depth, AnyOf)


def _all_of(reader: Reader, depth: int) -> Trigger:
    return _several(reader, depth, AllOf)


def _several(reader: Reader, depth: int, kind: type[Several]) -> Trigger:
    name = kind.KIND
    if depth == _DEEPEST:
        reader.refuse(name, f"is nested more than {_DEEPEST} deep", "a flat list")
    entries = reader.entries(name, f"[{_EXAMPLE}]")
    work = trial()
    work.members += len(entries)
    if work.members > _MOST_READ and not is_tried():
        hint = "Make it several jobs"
        raise InvalidTrigger("has far too many triggers", field=reader.path(name), hint=hint)
    members = [
        read_trigger(entry, f"{name}.{index}", depth + 1) for index, entry in enumerate(entries)
    ]
    return kind(*members, **_common(reader))


def _rrule(reader: Reader, depth: int) -> Trigger:
    del depth
    rule = reader.text("rrule", "FREQ=MONTHLY;BYDAY=-1FR") or ""
    example = "2026-01-30T09:00:00"
    start = reader.moment("dtstart", example)
    if start is None:
        reader.refuse("dtstart", "is missing: where the rule begins, as wall time", example)
    exdates, rdates = (_moments(reader, name, example) for name in ("exdates", "rdates"))
    zoned, common = _zoned(reader), _common(reader)
    return RRule(rrule=rule, dtstart=start, exdates=exdates, rdates=rdates, **zoned, **common)


def _moments(reader: Reader, name: str, example: str) -> tuple[datetime, ...]:
    found = list[datetime]()
    for entry in reader.entries(name, f'["{example}"]'):
        try:
            found.append(datetime.fromisoformat(str(entry)[:64]))
        except ValueError:
            reader.refuse(name, f"{str(entry)[:64]!r} is not a date and time", f'["{example}"]')
    return tuple(found)


def _when(reader: Reader, depth: int) -> Trigger:
    del depth
    phrase = reader.text("when", "every weekday at 9 in Rome") or ""
    zoned: dict[str, Any] = {
        "tz": reader.text("tz", "Europe/Rome"),
        "dst_gap": reader.text("dst_gap", "skip"),
        "dst_fold": reader.text("dst_fold", "last"),
        "business_days": _business_days(reader.take("business_days")),
    }
    return when(phrase, **zoned, **_common(reader))


def _custom(reader: Reader, depth: int) -> Trigger:
    del depth
    inner = Reader(reader.take("custom"), "custom", _CUSTOM)
    name = inner.text("name", "sunrise", "") or ""
    args = inner.take("args")
    inner.close()
    if not isinstance(args, Mapping | None):
        inner.refuse("args", "must be an object", '{"latitude": 41.9}')
    return custom_trigger(name, args or {}, _common(reader))


_KINDS: dict[str, Callable[[Reader, int], Trigger]] = {
    "cron": _cron,
    "every": _every,
    "calendar_every": _calendar_every,
    "once": _once,
    "on_demand": _on_demand,
    "any_of": _any_of,
    "all_of": _all_of,
    "custom": _custom,
    "when": _when,
    "rrule": _rrule,
}


#: What stands for a kind that was refused, while the other fields are read.
_RIGHT: dict[str, Any] = {
    "cron": "0 9 * * *",
    "every": "1h",
    "calendar_every": {"days": 1},
    "once": _MOMENT,
    "on_demand": True,
    "any_of": [{"on_demand": True}],
    "all_of": [{"every": "1h"}],
    "when": "every day at 9",
    "rrule": "FREQ=DAILY",
}


class _Zoned(TypedDict):
    tz: Any
    dst_gap: Any
    dst_fold: Any
    business_days: BusinessDays | None


def _zoned(reader: Reader) -> _Zoned:
    return {
        "tz": reader.text("tz", "Europe/Rome", "UTC"),
        "dst_gap": reader.text("dst_gap", "skip", "shift"),
        "dst_fold": reader.text("dst_fold", "last", "first"),
        "business_days": _business_days(reader.take("business_days")),
    }


def _business_days(document: object) -> BusinessDays | None:
    if document is None:
        return None
    reader = Reader(document, "business_days", _BUSINESS_DAYS)
    shift: Any = reader.text("shift", "previous", "next")
    weekend = reader.text("weekend", "fri,sat", "sat,sun")
    holidays = tuple(
        _calendar(entry, f"business_days.holidays.{index}")
        for index, entry in enumerate(reader.entries("holidays", f"[{_CALENDAR}]"))
    )
    reader.close()
    return BusinessDays(shift, holidays, "sat,sun" if weekend is None else weekend)


class _Common(TypedDict):
    start: Any
    until: Any
    max_runs: int | None
    within: tuple[Window, ...]
    exclude: tuple[Calendar, ...]
    jitter: Millis


def _common(reader: Reader) -> _Common:
    """What every trigger takes; and then nothing may be left."""
    common: _Common = {
        "start": reader.moment("start", _MOMENT),
        "until": reader.moment("until", _MOMENT),
        "max_runs": reader.whole("max_runs", "10"),
        "within": tuple(
            _window(entry, f"within.{index}")
            for index, entry in enumerate(reader.entries("within", f"[{_WINDOW}]"))
        ),
        "exclude": tuple(
            _calendar(entry, f"exclude.{index}")
            for index, entry in enumerate(reader.entries("exclude", f"[{_CALENDAR}]"))
        ),
        "jitter": reader.duration("jitter"),
    }
    reader.close()
    return common


def _window(document: object, path: str) -> Window:
    reader = Reader(document, path, _WINDOW)
    days = reader.text("days", "mon-fri", "*") or ""
    opens = reader.text("from", "09:00", "00:00") or ""
    closes = reader.text("to", "17:00", "24:00") or ""
    tz = reader.text("tz", "Europe/Rome")
    reader.close()
    with placed("within", path):
        return Window(days, opens, closes, tz)


def _calendar(document: object, path: str) -> Calendar:
    if isinstance(document, str):  # the name of a calendar of the project
        with placed("exclude", path):
            return Calendar(document, version=0)
    reader = Reader(document, path, _CALENDAR)
    name = reader.text("name", "holidays", "") or ""
    dates: list[Any] = reader.entries("dates", '["2026-12-25"]')
    ranges = [
        _range(entry, f"{path}.ranges.{index}")
        for index, entry in enumerate(reader.entries("ranges", '[{"from": "…", "to": "…"}]'))
    ]
    tz, version = reader.text("tz", "Europe/Rome"), reader.whole("version", "1")
    reader.close()
    with placed("exclude", path):
        return Calendar(name, dates, ranges=ranges, tz=tz, version=version)


def _range(document: object, path: str) -> tuple[str, str]:
    reader = Reader(document, path, '{"from": "2026-12-24", "to": "2027-01-02"}')
    first, last = reader.text("from", "2026-12-24", ""), reader.text("to", "2027-01-02", "")
    reader.close()
    return first or "", last or ""
