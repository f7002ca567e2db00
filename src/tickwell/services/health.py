"""The health reader: gathers the facts once for all who ask within a second, and has them judged.

The overview, /health, /readyz, /health/detailed, /checkup, `tickwell doctor` and metrics all read
health here.
"""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Protocol

from tickwell.clock import Clock, offset_of, to_datetime, wall_millis
from tickwell.domain.ability import EXTERNAL, is_call
from tickwell.domain.coverage import Coverage
from tickwell.domain.execution import Execution, State
from tickwell.domain.external import processes
from tickwell.domain.health import (
    CalendarEnd,
    Facts,
    Finding,
    Health,
    Level,
    LinkState,
    PausedQueue,
    Platform,
    ProcessHealth,
    ProjectFacts,
    Work,
    judge,
)
from tickwell.domain.health.facts import ENDS_SOON, LATE, WAITS_LONG
from tickwell.domain.job import JobState
from tickwell.domain.project_pause import ProjectPause
from tickwell.domain.queue import PAUSE_KIND, PAUSE_PROJECT, LaneLength
from tickwell.domain.trigger.shared_calendars import shared_calendars
from tickwell.engine.planning.project_pauses import read_pauses
from tickwell.errors import StoreError, TickwellError
from tickwell.ports.inspected import Inspected
from tickwell.ports.records import ExecutionFilter, Flaw, JobFilter, Page, Record
from tickwell.ports.store import CatalogStore, HistoryStore, QueueStore, RecordStore, Upkeep
from tickwell.services.access.actor import Actor, Permission
from tickwell.services.calendars.book import KIND, MOST, read_calendar
from tickwell.services.jobs.fire_times import GONE
from tickwell.shared_read import SharedRead

#: Seconds that facts are shared before the store is asked again.
TTL = 1.0
#: The same for the store's indexes, which nobody drops by accident.
INSPECTED = 30.0
#: The same for calendars, which end on a day.
CALENDARS = 60.0
#: Seconds after which a store or another server counts as away. A busy one answers sooner.
PATIENCE = 4.0
#: Executions of a lane that are counted, and jobs that one look reads.
SAMPLE = 100
#: Lanes whose executions one look reads, where those of a project or of refused jobs are wanted.
LANES = 100
_QUEUES = 20
#: Jobs among which one look searches for those that use a calendar.
_USERS = 1_000


class CheckedStore(QueueStore, CatalogStore, HistoryStore, RecordStore, Upkeep, Protocol):
    """What health is read from."""

    name: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Link:
    """A server besides the store, and how to ask whether it answers."""

    #: As it is when it answers; `error` is filled in by a look.
    state: LinkState
    #: Raises when the server does not answer.
    ping: Callable[[], Awaitable[object]]
    #: Hangs up.
    close: Callable[[], Awaitable[None]]


class HealthReader:
    """Many probes cost as much as one: each kind of fact is read once a second at most."""

    def __init__(self, store: CheckedStore, clock: Clock) -> None:
        self.store = store
        self.clock = clock
        #: Servers that the settings name besides the store.
        self.links: Sequence[Link] = ()
        #: How the engine of this process is; None: this process has none.
        self.process: Callable[[], ProcessHealth] | None = None
        #: The host's clock, which is compared with the store's.
        self.wall: Callable[[], int] = wall_millis
        self._platform = SharedRead[None, Platform](clock, TTL)
        self._flaws = SharedRead[None, list[Flaw]](clock, INSPECTED)
        self._work = SharedRead[str | None, Work](clock, TTL)
        self._project = SharedRead[str, ProjectFacts](clock, TTL)
        self._calendars = SharedRead[str, list[CalendarEnd]](clock, CALENDARS)

    async def platform(self) -> Health:
        """Over all projects: for probes, metrics and platform admins."""
        return judge(await self._facts(None, None))

    async def project(self, project: str) -> Health:
        """What any member of a project may see."""
        return judge(_without_secrets(await self._facts(project, project)))

    async def of(self, actor: Actor) -> Health:
        """What the actor may see: of other projects nothing, of the platform what concerns all."""
        if Permission.PLATFORM in actor.permissions:
            return judge(await self._facts(None, actor.project))
        return await self.project(actor.project)

    async def unreachable(self, error: StoreError) -> Health:
        """For a process that could not even open the store."""
        platform = Platform(store=self.store.name, error=_said(error))
        return judge(Facts(platform=replace(platform, links=await self._link_states())))

    async def close(self) -> None:
        """Hang up on the servers besides the store."""
        for each in self.links:
            await each.close()

    async def _facts(self, scope: str | None, project: str | None) -> Facts:
        process = self.process() if self.process is not None else None
        platform = await self._platform.get(None, self._read_platform)
        if platform.error is not None or platform.flaws:
            return Facts(platform=platform, process=process)
        try:
            async with asyncio.timeout(PATIENCE):
                work = await self._work.get(scope, lambda: self._read_work(scope, platform))
                own = ProjectFacts()
                if project is not None:
                    own = await self._project.get(project, lambda: self._read_project(project))
        except (StoreError, TimeoutError) as error:
            return Facts(platform=replace(platform, error=_said(error)), process=process)
        return Facts(platform=platform, work=work, project=own, process=process)

    async def _read_platform(self) -> Platform:
        links = asyncio.create_task(self._link_states())
        host = socket.gethostname()
        try:
            async with asyncio.timeout(PATIENCE):
                found = await self._ask_store(host)
        except (StoreError, TimeoutError) as error:
            found = Platform(store=self.store.name, error=_said(error), host=host)
        return replace(found, links=await links)

    async def _link_states(self) -> list[LinkState]:
        return await asyncio.gather(*map(_state_of, self.links))

    async def _ask_store(self, host: str) -> Platform:
        store, sent = self.store, self.clock.monotonic()
        now = await store.ping()
        wall, received = self.wall(), self.clock.monotonic()
        if isinstance(store, Inspected) and (flaws := await self._flaws.get(None, store.flaws)):
            # Everything else would be read by the indexes that are missing.
            told = [(each.text, each.remedy) for each in flaws]
            return Platform(store=store.name, now=now, host=host, flaws=told)
        live = processes(await store.list_workers())
        wakeup, orphans = await store.next_wakeup(now), 0
        if not any(each.is_alive(now) for each in live):
            running = ExecutionFilter(states=frozenset({State.RUNNING}))
            orphans = len((await self._sample(running)).items)
        return Platform(
            store=store.name,
            now=now,
            host=host,
            clock_offset=offset_of(wall, now, int((received - sent) * 1000)),
            processes=live,
            fire=wakeup.fire,
            promote=wakeup.promote,
            orphans=orphans,
        )

    async def _read_work(self, project: str | None, platform: Platform) -> Work:
        now = platform.now
        live = [each for each in platform.processes if each.is_alive(now) and each.worker.is_worker]
        coverage = Coverage(live)
        queued = await self.store.lane_lengths(State.QUEUED, SAMPLE)
        parked = await self.store.lane_lengths(State.PARKED, SAMPLE)
        late = (lane for lane in queued if lane.run_at < now - LATE and lane.ability != EXTERNAL)
        stuck = [*parked, *late]
        if project is not None:
            stuck = await self._of_project(project, stuck, coverage, now)
        refusable = list[Execution]()
        if coverage.refuses:
            for lane in stuck[:LANES]:
                if not coverage.lane_gap(lane.queue, lane.ability):
                    refusable += (await self._in_lane(lane, project, now - LATE)).items
        waiting = ExecutionFilter(project=project, states=frozenset({State.QUEUED}))
        pauses = await self.store.list_records(PAUSE_KIND, PAUSE_PROJECT, "", now, _QUEUES)
        return Work(
            lanes=stuck,
            refusable=refusable,
            limit=SAMPLE,
            paused=[await self._paused(each, waiting, now) for each in pauses],
            pauses=await self._project_pauses(project, now),
        )

    async def _project_pauses(self, project: str | None, now: int) -> list[ProjectPause]:
        """Those that the project is under; of all projects, those that there are."""
        found = await read_pauses(self.store, now)
        return [each for each in found if each.covers(project or each.project, now)][:_QUEUES]

    async def _of_project(
        self, project: str, lanes: Sequence[LaneLength], coverage: Coverage, now: int
    ) -> list[LaneLength]:
        """What of these lanes belongs to the project: a handler has one, webhooks share lanes."""
        own = [lane for lane in lanes if is_call(lane.ability) and lane.project == project]
        shared = [lane for lane in lanes if not is_call(lane.ability)]
        shared.sort(key=lambda lane: lane.project != project)  # stable: surely its own first
        for lane in shared[:LANES]:
            # Served lanes are only judged by what has waited for long.
            served = not coverage.lane_gap(lane.queue, lane.ability)
            page = await self._in_lane(lane, project, now - (WAITS_LONG if served else LATE))
            if page.items:
                first = min(page.items, key=lambda each: each.run_at)
                own.append(
                    replace(
                        lane,
                        count=len(page.items),
                        project=project,
                        job_id=first.job_id,
                        job_version=first.job_version,
                        run_at=first.run_at,
                    )
                )
        return own

    async def _in_lane(
        self, lane: LaneLength, project: str | None, due_before: int
    ) -> Page[Execution]:
        where = ExecutionFilter(
            project=project,
            queue=lane.queue,
            ability=lane.ability,
            states=frozenset({lane.state}),
            due_before=None if lane.state is State.PARKED else due_before,
        )
        return await self._sample(where)

    async def _paused(self, pause: Record, queued: ExecutionFilter, now: int) -> PausedQueue:
        page = await self._sample(replace(queued, queue=pause.key, due_before=now))
        return PausedQueue(
            name=pause.key,
            why=pause.document["why"],
            backlog=len(page.items),
            more=page.cursor is not None,
        )

    async def _read_project(self, project: str) -> ProjectFacts:
        stats = await self.store.stats(project)
        where = JobFilter(project=project, states=frozenset({JobState.PAUSED}))
        page = await self.store.list_jobs(where, limit=SAMPLE)
        pauses = [(entry.job.name, entry.cursor.pause) for entry in page.items]
        gone = [name for name, pause in pauses if pause is not None and pause.why == GONE]
        ending = await self._calendars.get(project, lambda: self._read_calendars(project))
        return ProjectFacts(dead=stats.get(State.DEAD, 0), gone=gone, calendars=ending)

    async def _read_calendars(self, project: str) -> list[CalendarEnd]:
        """Those that end soon, or have ended, while jobs use them."""
        now = self.clock.now()
        soon = to_datetime(now).date() + timedelta(days=ENDS_SOON)
        known = map(read_calendar, await self.store.list_records(KIND, project, "", now, MOST))
        ending = [
            CalendarEnd(name=each.name, last_day=end, has_country=each.country is not None)
            for each in known
            if (end := each.ends_on) is not None and end <= soon
        ]
        if not ending:
            return []
        where = JobFilter(project=project, states=frozenset({JobState.ACTIVE}))
        page = await self.store.list_jobs(where, limit=_USERS)
        used = {each.name for entry in page.items for each in shared_calendars(entry.job.trigger)}
        # With more jobs than these, one of the others may use it.
        return [each for each in ending if each.name in used or page.cursor is not None]

    async def _sample(self, where: ExecutionFilter) -> Page[Execution]:
        return await self.store.list_executions(where, limit=SAMPLE)


def weak_link_findings(weak: Sequence[tuple[str, str]]) -> list[Finding]:
    """Links to the store, its Redis and the Celery broker that others could read or forge.

    Each by the setting that names the server, and what is wrong with the link.
    """
    remedy = "Set TLS up there and leave the option out of the URL, or use rediss:// or amqps://"
    return [
        Finding("link", Level.AMBER, f"the link to {setting} {words}", remedy)
        for setting, words in weak
    ]


async def _state_of(link: Link) -> LinkState:
    try:
        async with asyncio.timeout(PATIENCE):
            await link.ping()
    except (TickwellError, TimeoutError) as error:
        return replace(link.state, error=_said(error))
    return link.state


def _without_secrets(facts: Facts) -> Facts:
    """Without hosts, addresses and errors: those are told to platform admins alone."""
    platform, process = facts.platform, facts.process
    hidden = replace(
        platform,
        store=platform.store.partition(":")[0],
        error=None if platform.error is None else "",
        host="",
        processes=[
            replace(each, worker=replace(each.worker, host="")) for each in platform.processes
        ],
        links=[replace(each, error=None if each.error is None else "") for each in platform.links],
    )
    if process is not None:
        process = replace(process, problems=[_without_reason(each) for each in process.problems])
    return replace(facts, platform=hidden, process=process)


def _without_reason(problem: str) -> str:
    where, mark, _ = problem.partition(": ")
    return f"{where} fails" if mark else problem


def _said(error: BaseException) -> str:
    return str(error) or f"no answer for {PATIENCE:g} s"
