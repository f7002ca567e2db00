"""Maintenance windows of a project and of everything: saved, ended, deleted and read."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

from tickwell.clock import Clock, to_datetime
from tickwell.domain.fairness import PLATFORM_PROJECT
from tickwell.domain.maintenance import (
    KEPT,
    MAINTENANCE_KIND,
    MaintenanceWindow,
    Span,
    from_document,
    to_document,
    window_key,
)
from tickwell.domain.policy import DAY
from tickwell.domain.trigger import CustomTrigger, Once, Trigger
from tickwell.domain.trigger.shared_calendars import shared_calendars
from tickwell.engine.planning.maintenance import (
    MaintenanceStore,
    read_records,
    take_back,
    windows_of,
)
from tickwell.errors import InvalidInput, NotFound, WrongState
from tickwell.ports.records import Record
from tickwell.services.time import Moment, instant_of

#: Windows of one project, or of the platform, that are not over.
MOST = 100
#: Milliseconds that one time of a window lasts at most.
LONGEST = 366 * DAY
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}")


class WindowState(StrEnum):
    """How far a window has come."""

    #: The jobs that it covers do not fire now.
    ON = "on"
    #: It has a time to come.
    PLANNED = "planned"
    #: All of its times are over.
    OVER = "over"


@dataclass(frozen=True, slots=True, kw_only=True)
class Maintenance:
    """A window as it is now."""

    window: MaintenanceWindow
    #: The time that is on, or the next one; None: all are over.
    span: Span | None
    state: WindowState


@dataclass(frozen=True, slots=True, kw_only=True)
class Schedule:
    """When a window is: a trigger and a length, or one time from `start` on."""

    trigger: Trigger | None = None
    #: None: now.
    start: Moment | None = None
    end: Moment | None = None
    length: int | None = None


class MaintenanceWindowing:
    """Saves, ends and deletes the windows of a project, or of `EVERYTHING`."""

    def __init__(self, store: MaintenanceStore, clock: Clock, wake: Callable[[], None]) -> None:
        self.store = store
        self.clock = clock
        #: Called after a write, so that the loops of this process look at once.
        self.wake = wake

    async def put(
        self,
        project: str,
        name: str,
        schedule: Schedule,
        *,
        by: str,
        why: str = "",
        tags: Sequence[str] = (),
        queues: Sequence[str] = (),
    ) -> tuple[MaintenanceWindow | None, MaintenanceWindow]:
        """Add a window, or replace the one of this name; the one before and the new one.

        Fires that it covers and that no worker has claimed are skipped at once.
        """
        now = self.clock.now()
        if not _NAME.fullmatch(name):
            reason = "is not made of up to 100 letters, digits, dots, dashes and underscores"
            raise InvalidInput(reason, field="name", hint="For example: database-move")
        trigger, duration = _times(schedule, now)
        key = window_key(project, name)
        window = MaintenanceWindow(
            project=project,
            name=name,
            trigger=trigger.bound(key),
            duration=duration,
            tags=tuple(tags),
            queues=tuple(queues),
            why=why,
            by=by,
            changed_at=now,
        )
        if window.span(now) is None:
            raise InvalidInput("is past", field="end", hint="Choose a later moment")
        before = await self._find(key, now)
        if before is None:
            await self._require_room(project, now)
        await self._write(window, now)
        return None if before is None else before[0], window

    async def end(self, project: str, name: str) -> tuple[MaintenanceWindow, MaintenanceWindow]:
        """End the time that is on now; jobs fire again. Later times stay."""
        while True:
            now = self.clock.now()
            window, version = await self._existing(project, name, now)
            if not window.is_on(now):
                remedy = "a window that is on can be ended; delete one that has not begun"
                raise WrongState("maintenance window", name, "not on", remedy)
            ended = replace(window, ended_at=now, changed_at=now)
            if await self._write(ended, now, version):
                return window, ended

    async def delete(self, project: str, name: str) -> MaintenanceWindow:
        """Delete a window; what it answered stays answered."""
        now = self.clock.now()
        window, _ = await self._existing(project, name, now)
        if not await self.store.delete_record(MAINTENANCE_KIND, PLATFORM_PROJECT, window.key):
            raise NotFound("maintenance window", name)
        self.wake()
        return window

    async def list_for(self, project: str) -> list[Maintenance]:
        """The windows of a project and of everything: what is on first, then what comes next."""
        now = self.clock.now()
        found = [as_of(each, now) for each in await windows_of(self.store, project, now)]
        found.sort(key=_order)
        return found

    async def _find(self, key: str, now: int) -> tuple[MaintenanceWindow, int] | None:
        record = await self.store.get_record(MAINTENANCE_KIND, PLATFORM_PROJECT, key, now)
        return None if record is None else (from_document(key, record.document), record.version)

    async def _existing(self, project: str, name: str, now: int) -> tuple[MaintenanceWindow, int]:
        found = await self._find(window_key(project, name), now)
        if found is None:
            raise NotFound("maintenance window", name)
        return found

    async def _require_room(self, project: str, now: int) -> None:
        known = await read_records(self.store, now, window_key(project, ""))
        windows = [from_document(each.key, each.document) for each in known]
        if sum(each.span(now) is not None for each in windows) >= MOST:
            hint = "Delete one, or give one several times by a trigger"
            raise InvalidInput(f"there are {MOST} maintenance windows already", hint=hint)

    async def _write(
        self, window: MaintenanceWindow, now: int, expected_version: int | None = None
    ) -> bool:
        record = Record(
            kind=MAINTENANCE_KIND,
            project=PLATFORM_PROJECT,
            key=window.key,
            document=to_document(window),
            expires_at=_expires_at(window, now),
        )
        written = await self.store.put_record(record, now, expected_version)
        if written:
            await take_back(self.store, [window], now)
            self.wake()
        return written


def as_of(window: MaintenanceWindow, now: int) -> Maintenance:
    """The window as it is at an instant."""
    span = window.span(now)
    state = WindowState.OVER
    if span is not None:
        state = WindowState.ON if span.start <= now else WindowState.PLANNED
    return Maintenance(window=window, span=span, state=state)


_STATES = [*WindowState]


def _order(each: Maintenance) -> tuple[int, int, str]:
    when = -each.window.changed_at if each.span is None else each.span.start
    return _STATES.index(each.state), when, each.window.key


def _expires_at(window: MaintenanceWindow, now: int) -> int | None:
    if window.recurs:
        return None
    span = window.span(now)
    return (now if span is None else span.end) + KEPT


def _times(schedule: Schedule, now: int) -> tuple[Trigger, int]:
    if schedule.trigger is not None:
        return _recurring(schedule, schedule.trigger)
    if (schedule.end is None) == (schedule.length is None):
        reason = "exactly one of `end` and `length` is needed"
        raise InvalidInput(reason, field="end", hint='For example "length": "2h"')
    start = now if schedule.start is None else instant_of(schedule.start, now)
    if schedule.length is not None:
        length = schedule.length
    else:
        length = instant_of(schedule.end or 0, now) - start
    _require_length(length, "end" if schedule.length is None else "length")
    return Once(to_datetime(start)), length


def _recurring(schedule: Schedule, trigger: Trigger) -> tuple[Trigger, int]:
    for name in ("start", "end"):
        if getattr(schedule, name) is not None:
            hint = "Give the trigger a `start` or an `until`"
            raise InvalidInput("needs a window without a trigger", field=name, hint=hint)
    if schedule.length is None:
        reason, hint = "is needed with a trigger", 'For example "length": "2h"'
        raise InvalidInput(reason, field="length", hint=hint)
    _require_length(schedule.length, "length")
    wrong = ""
    if trigger.follows_finish or not trigger.fires:
        wrong = "must fire by itself"
    elif trigger.jitter or trigger.max_runs is not None:
        wrong = "must have neither `jitter` nor `max_runs`"
    elif any(isinstance(each, CustomTrigger) for each in trigger.single()):
        wrong = "must not be of a class of your own: planners of other applications read it too"
    elif any(shared_calendars(trigger)):
        wrong = "must have the days of its calendars, and not the name of a shared one"
    if wrong:
        raise InvalidInput(wrong, field="trigger", hint='For example {"cron": "0 2 * * sun"}')
    return trigger, schedule.length


def _require_length(length: int, field: str) -> None:
    if not 0 < length <= LONGEST:
        raise InvalidInput(
            "a window lasts more than 0 and at most 366 days",
            field=field,
            hint="Choose an end that is later than the start",
        )
