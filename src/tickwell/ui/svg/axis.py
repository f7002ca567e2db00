"""A time axis: where an instant stands, and which ticks to write under it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from zoneinfo import ZoneInfo

from markupsafe import Markup

from tickwell.domain.policy import DAY, HOUR, MINUTE
from tickwell.ui.formatting import local

#: A span up to this long has a tick every so often, milliseconds.
_TICKS = (
    (HOUR, 10 * MINUTE),
    (6 * HOUR, HOUR),
    (DAY, 3 * HOUR),
    (2 * DAY, 6 * HOUR),
    (8 * DAY, DAY),
    (40 * DAY, 7 * DAY),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Axis:
    """From an instant to an instant, drawn from `left` to `right`."""

    since: int
    until: int
    left: float
    right: float
    zone: ZoneInfo

    def x(self, instant: int) -> float:
        """Where an instant stands."""
        part = (instant - self.since) / (self.until - self.since)
        return self.left + part * (self.right - self.left)

    def length(self, wide: float) -> float:
        """Milliseconds that are drawn so wide."""
        return wide * (self.until - self.since) / (self.right - self.left)

    def ticks(self) -> Iterator[tuple[float, str]]:
        """Round times of the visitor's clock, and how to write them."""
        length = self.until - self.since
        step = next((step for longest, step in _TICKS if length <= longest), 7 * DAY)
        at = self._first(step)
        while (instant := int(at.timestamp() * 1000)) < self.until:
            if instant >= self.since:
                yield self.x(instant), f"{at:%H:%M}" if step < DAY else f"{at:%a %d %b}"
            # On the wall clock, so that ticks stay round through a change of the hour.
            at = (at.replace(tzinfo=None) + timedelta(milliseconds=step)).replace(tzinfo=self.zone)

    def _first(self, step: int) -> datetime:
        begin = local(self.since, self.zone)
        midnight = begin.replace(hour=0, minute=0, second=0, microsecond=0)
        if step >= DAY:
            return midnight
        past = (begin.replace(tzinfo=None) - midnight.replace(tzinfo=None)).total_seconds() * 1000
        rounded = midnight.replace(tzinfo=None) + timedelta(milliseconds=past // step * step)
        return rounded.replace(tzinfo=self.zone)


@dataclass(frozen=True, slots=True, kw_only=True)
class Frame:
    """How large it is, and where its first column ends; `top` may be above 0."""

    kind: str
    left: int
    width: int
    top: int
    height: int

    def around(self, names: str, marks: str, attributes: str) -> Markup:
        """The two parts side by side; they are numbers and escaped text only."""
        wide = self.width - self.left
        return Markup(  # noqa: S704 - as said
            f'<div class="framed {self.kind}" {attributes}>'
            f'<div class="names"><svg class="chart" preserveAspectRatio="xMinYMin slice" '
            f'viewBox="0 {self.top} {self.left} {self.height}">{names}</svg></div>'
            f'<svg class="chart" viewBox="{self.left} {self.top} {wide} {self.height}">'
            f"{marks}</svg></div>"
        )
