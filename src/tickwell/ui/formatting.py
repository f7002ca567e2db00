"""How instants, spans, counts and documents are written on a page."""

from __future__ import annotations

import difflib
import json
import re
import shlex
from collections.abc import Callable
from datetime import datetime
from typing import Any
from zoneinfo import ZoneInfo

from tickwell.clock import to_datetime
from tickwell.domain.celery import Celery, is_sent
from tickwell.domain.execution import Execution, Kind
from tickwell.domain.explanation import WAITS_BECAUSE, explanation_of, reason_of
from tickwell.domain.external import External
from tickwell.domain.http import Http
from tickwell.domain.job import Entry
from tickwell.domain.target import Target
from tickwell.log.headline import headline
from tickwell.log.text import spelled_block
from tickwell.services.audit.entry import Entry as Audited
from tickwell.services.jobs.fire_times import upcoming
from tickwell.services.redaction.masking import masked_url

#: Characters of a document that a page shows of it.
LONGEST = 16_384
_WORD = re.compile(r"[a-z]+(?:[\s,;!?']|[.:](?:\s|$)|$)")
_SECOND, _MINUTE, _HOUR, _DAY = 1000, 60_000, 3_600_000, 86_400_000


def local(instant: int, zone: ZoneInfo) -> datetime:
    """An instant as a clock in the zone shows it."""
    return to_datetime(instant).astimezone(zone)


def when(instant: int | None, zone: ZoneInfo) -> str:
    """2026-11-16 09:00:00, on the visitor's clock."""
    # A third of the time of a pattern, and pages hold a thousand of them.
    return "" if instant is None else str(local(instant, zone))[:19]


def moment(instant: int, zone: ZoneInfo, now: int) -> str:
    """Mon 16 Nov, 09:00:00, on the visitor's clock: with the year only where it says something."""
    # Half the time of a pattern, for the same reason.
    day, month, number, time, year = local(instant, zone).ctime().split()
    year_text = "" if int(year) == local(now, zone).year else f" {year}"
    return f"{day} {number:0>2} {month}{year_text}, {time}"


def day_and_time(instant: int, zone: ZoneInfo, now: int) -> str:
    """Tue 17 Nov, 02:30: with seconds and year only where they say something."""
    found = local(instant, zone)
    day = "%a %d %b" if found.year == local(now, zone).year else "%a %d %b %Y"
    return f"{found:{day}, {'%H:%M:%S' if found.second else '%H:%M'}}"


def clock(instant: int, zone: ZoneInfo, now: int) -> str:
    """02:30 if that is today, else with its day."""
    text = day_and_time(instant, zone, now)
    today = local(instant, zone).date() == local(now, zone).date()
    return text.rpartition(", ")[2] if today else text


def exact(instant: int | None, zone: ZoneInfo) -> str:
    """The same with milliseconds and offset: what a tooltip says."""
    if instant is None:
        return ""
    found = local(instant, zone)
    return f"{found:%Y-%m-%d %H:%M:%S}.{instant % 1000:03} {found:%z} {zone.key}"


def iso(instant: int | None) -> str:
    """For machines: 2026-11-16T09:00:00.000Z."""
    if instant is None:
        return ""
    return f"{to_datetime(instant):%Y-%m-%dT%H:%M:%S}.{instant % 1000:03}Z"


def span(millis: float | None) -> str:
    """A duration in the two units that matter: 1.24 s, 2 min 5 s, 3 d 4 h."""
    if millis is None:
        return "\N{EN DASH}"
    if millis < _SECOND:
        return f"{millis:.0f} ms"
    if millis < 10 * _SECOND:
        return f"{millis / _SECOND:.2f} s"
    if millis < _MINUTE:
        return f"{millis / _SECOND:.1f} s"
    for unit, name, lesser, lesser_name in (
        (_DAY, "d", _HOUR, "h"),
        (_HOUR, "h", _MINUTE, "min"),
        (_MINUTE, "min", _SECOND, "s"),
    ):
        if millis >= unit:
            rest = int(millis % unit // lesser)
            return f"{int(millis // unit):,} {name}" + (f" {rest} {lesser_name}" if rest else "")
    return ""


def elapsed(millis: int) -> str:
    """The same in whole seconds, as it counts up: 42 s, 2 min 5 s."""
    return f"{millis // _SECOND} s" if millis < _MINUTE else span(millis)


def ago(instant: int | None, now: int) -> str:
    """3 min ago, in 1 h 28 min, now: to what comes in two units, since people plan by it."""
    if instant is None:
        return ""
    distance = abs(instant - now)
    if distance < _SECOND:
        return "now"
    if instant > now and distance >= _HOUR:
        return f"in {span(distance)}"
    for unit, name in ((_DAY, "d"), (_HOUR, "h"), (_MINUTE, "min"), (_SECOND, "s")):
        if distance >= unit:
            text = f"{distance // unit:,} {name}"
            return f"in {text}" if instant > now else f"{text} ago"
    return "now"


def is_overdue(instant: int, now: int) -> bool:
    """Whether a fire time has passed without being planned; planners act ahead of it."""
    return now - instant >= _SECOND


def when_due(instant: int, now: int) -> str:
    """In 5 s, now; overdue for 8 s."""
    if not is_overdue(instant, now):
        return ago(instant, now)
    return f"overdue for {ago(instant, now).removesuffix(' ago')}"


def count(number: int) -> str:
    """12,345."""
    return f"{number:,}"


def pretty(document: Any) -> str:
    """JSON for people."""
    return json.dumps(document, indent=2, ensure_ascii=False)


def short(id: str) -> str:
    """The end of an id, which tells two of one instant apart."""
    return f"…{id[-8:]}"


def target_text(target: Target) -> str:
    """What a job calls, in one line."""
    if isinstance(target, Http):
        return f"{target.method} {masked_url(target.url)}"
    if isinstance(target, Celery):
        return f"Celery {target.task}{f' on {target.queue}' if target.queue else ''}"
    if isinstance(target, External):
        return "runs outside, and checks in"
    return f"{target.handler}()"


def next_fire(entry: Entry) -> int | None:
    """When a job fires next, as far as it is known."""
    return next(iter(upcoming(entry, entry.cursor.after, 1)), None)


def what(execution: Execution) -> str:
    """Why it waits, or ended as it did, in one line."""
    text = waits(execution) or execution.error or execution.reason or ""
    if is_sent(execution.ability, execution.result):
        return "sent; its result is not awaited"
    if not text.strip():
        return "requested" if execution.kind is Kind.REQUEST else ""
    return visible(headline(text))


def visible(text: str) -> str:
    """Text of others with control characters spelled out: none turns the direction of a line.

    A carriage return begins a line, as in all text of a browser.
    """
    return spelled_block(text.replace("\r\n", "\n").replace("\r", "\n"))


def waits(execution: Execution) -> str:
    """What a pending execution waits for, where that is on record."""
    reason = reason_of(execution.state, execution.reason)
    return "" if reason is None else WAITS_BECAUSE.get(reason, "")


def explained(execution: Execution) -> str:
    """Why it stands as it does, in words."""
    return explanation_of(execution.state, execution.reason, execution.error)


def lines_between(before: Any, after: Any) -> list[str]:
    """The lines of two documents that differ, marked + and -; all of one when the other is None."""
    old, new = (pretty(each).splitlines() if each is not None else [] for each in (before, after))
    found = difflib.unified_diff(old, new, n=1)
    return [line for line in found if not line.startswith(("---", "+++", "@@"))]


def changes(entry: Audited) -> list[str]:
    """What an entry of the audit log says was changed."""
    before, after = (json.loads(each) if each else None for each in (entry.before, entry.after))
    return lines_between(before, after)


def sentence(text: str) -> str:
    """The same with a capital letter; all others stay as they are."""
    # An address or the name of a field is no word: it stays as it is.
    return text[:1].upper() + text[1:] if _WORD.match(text) else text


def word(text: str) -> str:
    """One word of a command, quoted where a shell would take it apart."""
    return shlex.quote(text)


FILTERS: dict[str, Callable[..., Any]] = {
    "moment": moment,
    "day_and_time": day_and_time,
    "clock": clock,
    "exact": exact,
    "iso": iso,
    "span": span,
    "elapsed": elapsed,
    "ago": ago,
    "is_overdue": is_overdue,
    "when_due": when_due,
    "count": count,
    "pretty": pretty,
    "short": short,
    "target": target_text,
    "next_fire": next_fire,
    "visible": visible,
    "what": what,
    "waits": waits,
    "explained": explained,
    "sentence": sentence,
    "word": word,
    "changes": changes,
}
