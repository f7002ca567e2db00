"""Density: how much starts in each hour, as it was counted and as it will be."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import islice

from tickwell.domain.job import Entry, JobState
from tickwell.domain.policy import HOUR
from tickwell.ports.records import JobFilter
from tickwell.ports.store import Store
from tickwell.services.insights.rates import hourly

#: Jobs that are looked at, and fires of each that are counted one by one.
JOBS, FIRES = 500, 800


@dataclass(slots=True, kw_only=True)
class Density:
    """Starts by the first instant of the hour; hours without any are left out."""

    hours: dict[int, int]
    #: Beyond what was counted one by one, steady triggers are reckoned by their rate.
    about: bool = False


async def density(store: Store, project: str, since: int, until: int, now: int) -> Density:
    """What ended in past hours, what will fire in those to come."""
    found = Density(hours={})
    this_hour = now // HOUR * HOUR
    if since < this_hour:
        past = await hourly(store, project, since, min(until, this_hour), now)
        found.hours = {
            hour: tally.succeeded + tally.dead
            for hour, tally in past.items()
            if tally.succeeded + tally.dead
        }
    where = JobFilter(project=project, states=frozenset({JobState.ACTIVE}), fires_before=until)
    page = await store.list_jobs(where, limit=JOBS)
    found.about = page.cursor is not None
    for entry in page.items:
        _count(found, entry, max(since, now), until)
    return found


def _count(found: Density, entry: Entry, since: int, until: int) -> None:
    trigger = entry.job.trigger
    if trigger.follows_finish or since >= until:
        return
    fires = list(islice(trigger.between(since, until), FIRES))
    for fire in fires:
        hour = fire // HOUR * HOUR
        found.hours[hour] = found.hours.get(hour, 0) + 1
    if len(fires) < FIRES:
        return
    found.about = True
    rate = FIRES * HOUR / max(fires[-1] - since, 1)
    for hour in range(fires[-1] // HOUR + 1, -(-until // HOUR)):
        found.hours[hour * HOUR] = found.hours.get(hour * HOUR, 0) + round(rate)
