"""Times as people write and read them on a command line."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Annotated, Any

import typer

from tickwell.cli.command import Session
from tickwell.errors import InvalidInput

Limit = Annotated[int, typer.Option(min=1, max=1000, metavar="N", help="Maximum number of rows.")]
Cursor = Annotated[
    str | None, typer.Option(metavar="TEXT", help="Cursor that the previous page ended with.")
]
Since = Annotated[
    str | None, typer.Option(metavar="TIME", help="Start: a time, 2h (ago), or a date; UTC.")
]
Until = Annotated[str | None, typer.Option(metavar="TIME", help="End of the range, not included.")]
Yes = Annotated[bool, typer.Option("--yes", "-y", metavar="", help="Do not ask for confirmation.")]


def say_rest(session: Session, page: Mapping[str, Any], empty: str) -> None:
    """What the table does not say: that it is empty and why, or that there is more."""
    following = page.get("next_cursor")
    if following and not page["items"]:
        session.screen.say(f"None so far; continue the search with --cursor {following}")
    elif following:
        session.screen.say(f"More: repeat with --cursor {following}")
    elif not page["items"]:
        session.screen.say(empty)


def say_count(count: int, noun: str) -> str:
    """A number and its noun."""
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"


_HINT = "For example 2026-11-15T09:00:00Z, 2026-11-15, -2h, +10m, or now"


def read_time(
    text: str, field: str, now: int, *, tz: str | None = "UTC", ahead: bool = False
) -> int:
    """The instant of a text: RFC 3339, a date, "now", "+10m" from now, "-2h" ago.

    A bare "2h" is ago, or from now where only what is ahead makes sense.

    Without an offset it is read in the zone; a zone of None means that it must have one.
    """
    from tickwell.clock import to_millis
    from tickwell.domain.trigger.duration import parse_duration

    raw = text.strip()
    if raw == "now":
        return now
    try:
        moment = datetime.fromisoformat(raw)
    except ValueError:
        try:
            distance = parse_duration(raw.lstrip("+-"))
        except InvalidInput:
            raise InvalidInput(f"{raw[:60]!r} is not a time", field=field, hint=_HINT) from None
        forward = ahead and not raw.startswith("-")
        return now + (distance if forward or raw.startswith("+") else -distance)
    if moment.utcoffset() is None:
        moment = _in_zone(moment, raw, field, tz)
    return to_millis(moment)


def _in_zone(moment: datetime, raw: str, field: str, tz: str | None) -> datetime:
    from zoneinfo import ZoneInfo

    from tickwell.domain.cron import check_zone

    if tz is None:
        raise InvalidInput(
            f"{raw!r} has no offset from UTC",
            field=field,
            hint=f"Write {raw}Z, or add --tz",
        )
    return moment.replace(tzinfo=ZoneInfo(check_zone(tz)))


def say_time(text: str | None) -> str:
    """An instant of a document, for a person: 2026-11-15 09:00:00 UTC."""
    if text is None:
        return ""
    moment = datetime.fromisoformat(text)
    whole = f"{moment:%Y-%m-%d %H:%M:%S}"
    return f"{whole}.{moment.microsecond // 1000:03}" if moment.microsecond else whole


def say_distance(text: str | None, now: int) -> str:
    """How far an instant of a document is from now: "in 5m", "2h ago"."""
    if text is None:
        return ""
    from tickwell.clock import to_millis

    millis = to_millis(datetime.fromisoformat(text)) - now
    if abs(millis) < 1000:
        return "now"
    whole = say_span(abs(millis) // 1000 * 1000)
    return f"in {whole}" if millis > 0 else f"{whole} ago"


def say_took(start: str | None, end: str | None) -> str:
    """How long something took."""
    if start is None or end is None:
        return ""
    took = datetime.fromisoformat(end) - datetime.fromisoformat(start)
    return say_span(int(took.total_seconds() * 1000))


def say_span(millis: int) -> str:
    """A duration in its two largest units: 3d4h, 5m10s, 1.2s, 40ms."""
    if millis < 1000:
        return f"{millis}ms"
    if millis < 60_000:
        return f"{millis / 1000:.3g}s"
    units = (("d", 86_400_000), ("h", 3_600_000), ("m", 60_000), ("s", 1000))
    parts: list[str] = []
    for unit, size in units:
        amount, millis = divmod(millis, size)
        if amount or parts:
            parts.append(f"{amount}{unit}")
    return "".join(part for part in parts[:2] if not part.startswith("0"))
