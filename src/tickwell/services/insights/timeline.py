"""The timeline: what ran and what will fire, on one axis, a lane for each job."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from itertools import islice

from tickwell.domain.execution import Execution, State
from tickwell.domain.job import Entry, JobState
from tickwell.domain.policy import DAY, HOUR
from tickwell.ports.records import ExecutionFilter, JobFilter
from tickwell.ports.store import HistoryStore, Store
from tickwell.services.insights.load import counted, hourly_load
from tickwell.services.insights.rates import hourly

#: Lanes that are drawn; executions that are read; fires of one job that are counted.
LANES, READ, FIRES = 40, 300, 300
#: Executions of one job that are read where there are too many of all, and looked at for that.
EACH, LOOK = 30, 50
#: The same of days, in which they stand closer.
EACH_OF_DAYS = 20


@dataclass(slots=True, kw_only=True)
class Lane:
    """One job."""

    job_id: str
    name: str
    executions: list[Execution] = field(default_factory=list)
    fires: Sequence[int] = ()
    #: It fires more often than is drawn.
    dense: bool = False
    #: Before this instant it ran more often than is drawn, though what died is.
    dense_before: int | None = None


@dataclass(slots=True, kw_only=True)
class Timeline:
    """What happens in [since, until), by job."""

    since: int
    until: int
    now: int
    lanes: list[Lane]
    #: How much starts in each part of the axis.
    load: list[int]
    #: Lanes or executions were left out.
    partial: bool


async def timeline(store: Store, project: str, since: int, until: int, now: int) -> Timeline:
    """Read it, at a cost bounded by what can be drawn."""
    past = ExecutionFilter(project=project, since=since, until=min(until, now + 1))
    ran = await store.list_executions(past, limit=READ)
    lanes: dict[str, Lane] = {}
    coming = JobFilter(
        project=project, states=frozenset({JobState.ACTIVE}), fires_before=max(until, now)
    )
    soon = await store.list_jobs(coming, limit=LANES)
    for entry in soon.items:
        lanes[entry.job.id] = _lane(entry, max(since, now), until)
    known = [id for id in dict.fromkeys(each.job_id for each in ran.items) if id not in lanes]
    for entry in await store.get_jobs(project, known[: LANES - len(lanes)]):
        lanes[entry.job.id] = Lane(job_id=entry.job.id, name=entry.job.name)
    seen = list(ran.items)
    if ran.cursor is not None:
        # The newest of a job are of this span, unless it ended earlier.
        look = LOOK if until > now else None
        limit = EACH if until - since < DAY else EACH_OF_DAYS
        seen = await _of_each(store, replace(past, look=look), list(lanes.values()), limit)
    for each in seen:
        if each.job_id in lanes:
            lanes[each.job_id].executions.append(each)
    shown = sorted(lanes.values(), key=lambda lane: lane.name)
    if ran.cursor is not None and until - since >= DAY:
        ended = await hourly(store, project, since, min(until, now), now)
        load = hourly_load(ended, _single(shown), _always(shown), since=since, until=until, now=now)
    else:
        load = _load(shown, seen, since, until)
    return Timeline(
        since=since,
        until=until,
        now=now,
        lanes=shown,
        load=load,
        partial=soon.cursor is not None or len(shown) < len(soon.items) + len(known),
    )


async def _of_each(
    store: HistoryStore, where: ExecutionFilter, lanes: Sequence[Lane], limit: int
) -> list[Execution]:
    """The latest of each job, so that the busy leave room for the rare; and the newest that died.

    Where an instant is the only end, a store looks through all that is older: 30 ms of a page.
    """
    died = replace(where, states=frozenset({State.DEAD}), since=None, look=None)
    each_job = [
        store.list_executions(replace(where, job_id=lane.job_id), limit=limit) for lane in lanes
    ]
    dead, *pages = await asyncio.gather(store.list_executions(died, limit=READ), *each_job)
    for lane, page in zip(lanes, pages, strict=True):
        if page.cursor is not None and len(page.items) == limit:
            lane.dense_before = page.items[-1].run_at
    items = [each for page in (dead, *pages) for each in page.items]
    found = {each.id: each for each in items if each.fire_time >= (where.since or 0)}
    return sorted(found.values(), key=lambda each: each.run_at, reverse=True)


def _lane(entry: Entry, since: int, until: int) -> Lane:
    trigger = entry.job.trigger
    fires = [] if trigger.follows_finish else list(islice(trigger.between(since, until), FIRES + 1))
    return Lane(
        job_id=entry.job.id,
        name=entry.job.name,
        fires=fires[:FIRES],
        dense=len(fires) > FIRES,
    )


def _load(lanes: Sequence[Lane], seen: Sequence[Execution], since: int, until: int) -> list[int]:
    """What is steady by itself is left out: it was not counted to its end."""
    steady = {lane.job_id for lane in lanes if lane.dense_before is not None}
    ran = [each for each in seen if each.job_id not in steady]
    return counted(ran, _single(lanes), since, until)


def _single(lanes: Sequence[Lane]) -> list[int]:
    return [fire for lane in lanes if not lane.dense for fire in lane.fires]


def _always(lanes: Sequence[Lane]) -> float:
    """Fires an hour of those that fire more often than is drawn."""
    dense = [lane.fires for lane in lanes if lane.dense]
    return sum(len(fires) * HOUR / max(fires[-1] - fires[0], 1) for fires in dense)
