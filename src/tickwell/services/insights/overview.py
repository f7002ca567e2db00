"""The overview: is all well, what is going on, what comes next, and what needs a person."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from tickwell.clock import NEVER
from tickwell.domain.coverage import Coverage
from tickwell.domain.execution import DUE, Execution, State
from tickwell.domain.external import processes
from tickwell.domain.job import Entry, JobState
from tickwell.domain.policy import DAY, HOUR
from tickwell.domain.tally import Tally, total
from tickwell.log.headline import headline
from tickwell.ports.records import ExecutionFilter, JobFilter
from tickwell.ports.store import CatalogStore, Store
from tickwell.services.alerts.watched import is_paused_on_purpose
from tickwell.services.cooperative import cooperatively
from tickwell.services.executions.dead_letters import signature
from tickwell.services.insights.metrics import hourly
from tickwell.services.jobs.fire_times import due_or_upcoming
from tickwell.services.jobs.jobs_by_id import jobs_by_id

_ACTIVE = frozenset({JobState.ACTIVE})


@dataclass(frozen=True, slots=True, kw_only=True)
class Fire:
    """A fire time to come, or one in the past that is overdue."""

    job_id: str
    job: str
    instant: int


async def next_fires(store: CatalogStore, project: str, now: int, count: int) -> Sequence[Fire]:
    """The next fire of the `count` jobs that fire soonest."""
    soon = await store.list_jobs(
        JobFilter(project=project, states=_ACTIVE, fires_before=NEVER), limit=count
    )
    fires = [fire async for entry in cooperatively(soon.items) for fire in _next(entry, now)]
    return sorted(fires, key=lambda fire: (fire.instant, fire.job))


def _next(entry: Entry, now: int) -> list[Fire]:
    return [
        Fire(job_id=entry.job.id, job=entry.job.name, instant=instant)
        for instant in due_or_upcoming(entry, now, 1)
    ]


#: Fires to come, and notes of each sort, that are shown; executions that notes are made of.
FIRES, NOTES, READ = 15, 5, 100


@dataclass(frozen=True, slots=True, kw_only=True)
class Note:
    """Something that a person should look at."""

    #: The state it is in, for the sign before it.
    state: str
    title: str
    text: str
    href: str
    instant: int | None = None


@dataclass(slots=True, kw_only=True)
class Overview:
    """One look at a project."""

    #: Due, or due within the next seconds, and not running.
    queued: int
    running: int
    waiting: int
    dead: int
    last_day: Tally
    hours: dict[int, Tally]
    next_fires: Sequence[Fire]
    nothing_yet: bool
    attention: list[Note] = field(default_factory=list)


async def look(store: Store, project: str, now: int) -> Overview:
    """Read it; the cost does not grow with jobs or history."""
    stats = await store.stats(project)
    until = (now // HOUR + 1) * HOUR
    hours = await hourly(store, project, until - DAY, until, now)
    jobs = await store.list_jobs(JobFilter(project=project), limit=1)
    return Overview(
        queued=sum(stats.get(state, 0) for state in DUE),
        running=stats.get(State.RUNNING, 0),
        waiting=stats.get(State.WAITING, 0),
        dead=stats.get(State.DEAD, 0),
        last_day=total(hours.values()),
        hours=hours,
        next_fires=await next_fires(store, project, now, FIRES),
        nothing_yet=not jobs.items,
        attention=await _attention(store, project, stats, now),
    )


async def _attention(store: Store, project: str, stats: dict[State, int], now: int) -> list[Note]:
    notes = []
    for state, title in (
        (State.DEAD, "died"),
        (State.PARKED, "waits for a worker that can run it"),
    ):
        if not stats.get(state):
            continue
        where = ExecutionFilter(project=project, states=frozenset({state}))
        page = await store.list_executions(where, limit=READ)
        found = page.items
        if state is State.PARKED:
            found = await _with_reasons_of_now(store, found, now)
        alike = _alike(found)[:NOTES]
        names = await _names(store, project, {same[0].job_id for same in alike})
        notes += [_note(same, names.get(same[0].job_id, "a job"), title) for same in alike]
    paused = JobFilter(project=project, states=frozenset({JobState.PAUSED}))
    entries = (await store.list_jobs(paused, limit=READ)).items
    return notes + [_paused(each) for each in entries if not is_paused_on_purpose(each)][:NOTES]


async def _with_reasons_of_now(
    store: Store, parked: Sequence[Execution], now: int
) -> list[Execution]:
    """Say why no worker can run them now: those of today may lack something else.

    What was parked while a deployment replaced all workers is recorded as in a queue without one.
    """
    found = processes(await store.list_workers())
    live = [each for each in found if each.is_alive(now) and each.worker.is_worker]
    coverage = Coverage(live)
    return [replace(each, reason=coverage.gap(each) or each.reason) for each in parked]


def _alike(executions: Sequence[Execution]) -> list[list[Execution]]:
    """Those of one job that ended by the same are one matter; the newest first."""
    found: dict[tuple[str, str], list[Execution]] = {}
    for each in executions:
        found.setdefault((each.job_id, signature(each)), []).append(each)
    return list(found.values())


def _note(same: Sequence[Execution], name: str, title: str) -> Note:
    newest = same[0]
    times = f", {len(same)} times" if len(same) > 1 else ""
    return Note(
        state=newest.state.value,
        title=f"{name} {title}{times}",
        text=headline(_what_happened(newest))[:200],
        href=f"/executions/{newest.id}",
        instant=newest.ended_at or newest.run_at,
    )


def _what_happened(execution: Execution) -> str:
    """Why it is parked, whatever its last attempt died of."""
    parked = execution.reason if execution.state is State.PARKED else None
    return parked or execution.error or execution.reason or ""


def _paused(entry: Entry) -> Note:
    pause = entry.cursor.pause
    return Note(
        state="paused",
        title=f"{entry.job.name} is paused",
        text=f"by {pause.by}: {pause.why or 'no reason given'}" if pause else "",
        href=f"/jobs/{entry.job.id}",
        instant=pause.since if pause else None,
    )


async def _names(store: Store, project: str, ids: set[str]) -> dict[str, str]:
    known = await jobs_by_id(store, project, ids)
    return {id: entry.job.name for id, entry in known.items()}
