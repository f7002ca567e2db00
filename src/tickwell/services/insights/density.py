"""Density: how much starts in each hour, as it was counted and as it will be."""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import islice

from tickwell.domain.job import Entry, JobState
from tickwell.domain.policy import DAY, HOUR, MINUTE
from tickwell.domain.trigger import Every, Trigger
from tickwell.ports.records import JobFilter
from tickwell.ports.store import Store
from tickwell.services.cooperative import cooperatively
from tickwell.services.insights.metrics import hourly

#: Jobs that are looked at, and fires of each that are counted one by one.
JOBS, FIRES = 300, 2000
#: What fires more often than this is steady, whatever its pattern, milliseconds.
OFTEN = 5 * MINUTE


@dataclass(slots=True, kw_only=True)
class Density:
    """Starts by the first instant of the hour; hours without any are left out."""

    hours: dict[int, int]
    #: Fires to come that a person skipped, which are not counted there.
    skipped: dict[int, int] = field(default_factory=dict)
    #: Jobs that fire all the time add as much to every hour to come: how many, how often an hour.
    steady: int = 0
    steady_rate: float = 0.0
    #: There are more jobs than were looked at.
    partial: bool = False


async def density(store: Store, project: str, since: int, until: int, now: int) -> Density:
    """What ended in past hours, what will fire in those to come; of this hour both."""
    found = Density(hours={})
    this_hour = now // HOUR * HOUR
    if since <= this_hour:
        past = await hourly(store, project, since, min(until, this_hour + HOUR), now)
        found.hours = {hour: tally.executions for hour, tally in past.items() if tally.executions}
    where = JobFilter(project=project, states=frozenset({JobState.ACTIVE}), fires_before=until)
    page = await store.list_jobs(where, limit=JOBS)
    found.partial = page.cursor is not None
    async for entry in cooperatively(page.items):
        await _count(found, entry, max(since, now), until)
    for hour in range(max(-(-since // HOUR) * HOUR, this_hour), until, HOUR):
        left = (hour + HOUR - max(hour, now)) / HOUR
        always = round(found.steady_rate * left)
        if always:
            found.hours[hour] = found.hours.get(hour, 0) + always
    return found


async def _steady(trigger: Trigger, since: int) -> float:
    """How often an hour it fires, if it does so in every hour of every day; else 0."""
    if isinstance(trigger, Every) and not trigger.is_confined:
        return HOUR / trigger.period if trigger.period <= HOUR else 0.0
    few = list(islice(trigger.between(since, since + HOUR), HOUR // OFTEN))
    if not few:
        return 0.0
    probes = [*range(since, since + DAY, HOUR), *range(since, since + 7 * DAY, DAY)]
    async for probe in cooperatively(probes):
        if next(trigger.between(probe, probe + HOUR), None) is None:
            return 0.0
    often = len(few) == HOUR // OFTEN
    return (len(few) - 1) * HOUR / max(few[-1] - few[0], 1) if often else len(few)


async def _count(found: Density, entry: Entry, since: int, until: int) -> None:
    trigger, skipped = entry.job.trigger, entry.cursor.skipped
    for fire in skipped:
        if since <= fire < until:
            found.skipped[fire // HOUR * HOUR] = found.skipped.get(fire // HOUR * HOUR, 0) + 1
    if trigger.follows_finish or since >= until:
        return
    rate = await _steady(trigger, since)
    if rate:
        found.steady += 1
        found.steady_rate += rate
        return
    async for fire in cooperatively(islice(trigger.between(since, until), FIRES)):
        if fire in skipped:
            continue
        hour = fire // HOUR * HOUR
        found.hours[hour] = found.hours.get(hour, 0) + 1
