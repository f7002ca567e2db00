"""The timeline: what ran and what will fire, a lane for each job, and the load of each part."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from itertools import islice

from tickwell.domain.execution import Execution, State
from tickwell.domain.job import Entry, JobState
from tickwell.domain.policy import DAY, HOUR
from tickwell.domain.tally import Tally
from tickwell.ids import first_id
from tickwell.ports.records import ExecutionFilter, JobFilter, Page
from tickwell.ports.store import CatalogStore, HistoryStore, Store
from tickwell.services.cooperative import cooperatively
from tickwell.services.insights.metrics import hourly
from tickwell.services.jobs.jobs_by_id import jobs_by_id

#: Lanes that are drawn; fires of one job that are counted.
LANES, FIRES = 40, 300
#: Executions that are read, and looked at for that.
READ, LOOK = 300, 1000
#: Where there are too many: of each job; the same of days, in which they stand closer; what died.
EACH, EACH_OF_DAYS, DIED = 30, 12, 100


@dataclass(slots=True, kw_only=True)
class Lane:
    """One job."""

    job_id: str
    name: str
    executions: list[Execution] = field(default_factory=list)
    fires: Sequence[int] = ()
    #: Fires to come that a person skipped.
    skipped: Sequence[int] = ()
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
    past = ExecutionFilter(project=project, since=since, until=min(until, now + 1), look=LOOK)
    soon = await _soon(store, project, until, now)
    lanes = {}
    async for entry in cooperatively(soon.items):
        lanes[entry.job.id] = await _lane(entry, max(since, now), until)
    known, seen, crowded = list[str](), list[Execution](), soon.cursor is not None
    if not crowded:
        ran = await store.list_executions(past, _end(past), READ)
        seen, crowded = list(ran.items), ran.cursor is not None
        known = [id for id in dict.fromkeys(each.job_id for each in seen) if id not in lanes]
        ran_of = await jobs_by_id(store, project, known[: LANES - len(lanes)])
        for id, entry in ran_of.items():
            lanes[id] = Lane(job_id=id, name=entry.job.name)
    if crowded:
        limit = EACH if until - since < DAY else EACH_OF_DAYS
        seen = await _of_each(store, past, list(lanes.values()), limit)
    for each in seen:
        if each.job_id in lanes:
            lanes[each.job_id].executions.append(each)
    shown = sorted(lanes.values(), key=lambda lane: lane.name)
    if crowded and until - since >= DAY:
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


async def _soon(store: CatalogStore, project: str, until: int, now: int) -> Page[Entry]:
    """Jobs that fire on the part of the axis that is to come, the soonest first."""
    if until <= now:
        return Page(items=[], cursor=None)
    active = frozenset({JobState.ACTIVE})
    return await store.list_jobs(
        JobFilter(project=project, states=active, fires_before=until), limit=LANES
    )


async def _of_each(
    store: HistoryStore, where: ExecutionFilter, lanes: Sequence[Lane], limit: int
) -> list[Execution]:
    """The latest of each job, so that the busy leave room for the rare; and the newest that died.

    Where an instant is the only end, a store looks through all that is older: 30 ms of a page.
    """
    end, died = _end(where), replace(where, states=frozenset({State.DEAD}), since=None, look=None)
    of_job = [replace(where, job_id=lane.job_id, look=limit + 1) for lane in lanes]
    dead, *pages = await asyncio.gather(
        store.list_executions(died, end, DIED),
        *(store.list_executions(each, end, limit) for each in of_job),
    )
    for lane, page in zip(lanes, pages, strict=True):
        if page.cursor is not None and len(page.items) == limit:
            lane.dense_before = page.items[-1].run_at
    items = [each for page in (dead, *pages) for each in page.items]
    found = {each.id: each for each in items if each.fire_time >= (where.since or 0)}
    return sorted(found.values(), key=lambda each: each.run_at, reverse=True)


def _end(where: ExecutionFilter) -> str | None:
    """Where to begin to read: a store would look through all that is newer than the span."""
    return None if where.until is None else first_id(where.until)


async def _lane(entry: Entry, since: int, until: int) -> Lane:
    trigger = entry.job.trigger
    each = () if trigger.follows_finish else trigger.between(since, until)
    skipped = entry.cursor.skipped
    found = [fire async for fire in cooperatively(islice(each, FIRES + 1 + len(skipped)))]
    fires = [fire for fire in found if fire not in skipped]
    return Lane(
        job_id=entry.job.id,
        name=entry.job.name,
        fires=fires[:FIRES],
        skipped=[fire for fire in skipped if fire in found],
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


#: Parts of an axis in which starts are counted one by one.
PARTS = 120


def counted(ran: Sequence[Execution], fires: Sequence[int], since: int, until: int) -> list[int]:
    """What is known one by one."""
    step = max((until - since) // PARTS, 1)
    starts: Counter[int] = Counter([(fire - since) // step for fire in fires])
    starts.update((each.run_at - since) // step for each in ran)
    return [starts[part] for part in range(PARTS)]


def hourly_load(
    ended: dict[int, Tally],
    fires: Sequence[int],
    always: float,
    *,
    since: int,
    until: int,
    now: int,
) -> list[int]:
    """By the hour: what ended in those past; what will fire, some of it all the time, in others."""
    starts: Counter[int] = Counter([(fire - since) // HOUR for fire in fires])
    for hour, tally in ended.items():
        starts[max(hour - since, 0) // HOUR] += tally.executions
    for part in range(max(now - since, 0) // HOUR + 1, (until - since) // HOUR):
        starts[part] += round(always)
    return [starts[part] for part in range((until - since) // HOUR)]
