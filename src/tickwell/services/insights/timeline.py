"""The timeline: what ran and what will fire, on one axis, a lane for each job."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import islice

from tickwell.domain.execution import Execution, State
from tickwell.domain.job import Entry, JobState
from tickwell.ports.records import ExecutionFilter, JobFilter
from tickwell.ports.store import Store

#: Lanes that are drawn; executions that are read; fires of one job that are drawn one by one.
LANES, READ, FIRES = 60, 1000, 400
#: Parts of the axis in which pile-ups are counted.
PARTS = 120


@dataclass(slots=True, kw_only=True)
class Lane:
    """One job."""

    job_id: str
    name: str
    executions: list[Execution] = field(default_factory=list)
    fires: Sequence[int] = ()
    #: It fires more often than is drawn.
    dense: bool = False


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
    seen = [each for each in ran.items if each.state is not State.SKIPPED or each.reason]
    known = [id for id in dict.fromkeys(each.job_id for each in seen) if id not in lanes]
    for entry in await store.get_jobs(project, known[:LANES]):
        lanes[entry.job.id] = Lane(job_id=entry.job.id, name=entry.job.name)
    for each in seen:
        if each.job_id in lanes:
            lanes[each.job_id].executions.append(each)
    shown = sorted(lanes.values(), key=lambda lane: lane.name)
    return Timeline(
        since=since,
        until=until,
        now=now,
        lanes=shown[:LANES],
        load=_load(shown, seen, since, until),
        partial=any((ran.cursor, soon.cursor, len(known) > LANES, len(shown) > LANES)),
    )


def _lane(entry: Entry, since: int, until: int) -> Lane:
    trigger = entry.job.trigger
    fires = [] if trigger.follows_finish else list(islice(trigger.between(since, until), FIRES + 1))
    return Lane(
        job_id=entry.job.id,
        name=entry.job.name,
        fires=fires[:FIRES],
        dense=len(fires) > FIRES,
    )


def _load(lanes: Sequence[Lane], ran: Sequence[Execution], since: int, until: int) -> list[int]:
    step = max((until - since) // PARTS, 1)
    starts: Counter[int] = Counter()
    for lane in lanes:
        if not lane.dense:  # steady by itself, and not counted to its end
            starts.update((fire - since) // step for fire in lane.fires)
    starts.update((each.run_at - since) // step for each in ran)
    return [starts[part] for part in range(PARTS)]
