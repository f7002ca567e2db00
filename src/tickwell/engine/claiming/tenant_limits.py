"""Reads how much of a worker each project may use, from the settings and its own limits."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence

from tickwell.clock import Clock
from tickwell.domain.execution import Claim
from tickwell.domain.fairness import (
    FIRST_PROJECT,
    LIMITS_KIND,
    PLATFORM_PROJECT,
    PROJECT_KIND,
    seats,
)
from tickwell.engine.claiming.lane import Lane
from tickwell.engine.claiming.running_permits import EXCHANGE, PermitStore, RunningPermits, seated
from tickwell.settings import Settings

#: Seconds between two looks: a limit that is set takes effect within as long.
LOOK = 10.0
#: Limits read in one step: 1,000 one after the other took 0.4 s of PostgreSQL, and fires were late.
AT_ONCE = 20
#: Projects made that are looked at, and where all of those are deleted: one that is not is enough.
SOME, MOST = 100, 10_000


class TenantLimits:
    """Looks at projects and their limits now and then, and sets what each may take of a lane."""

    def __init__(
        self, store: PermitStore, clock: Clock, settings: Settings, worker: Callable[[], str]
    ) -> None:
        self.store = store
        self.permits = RunningPermits(store, clock, worker)
        self.clock = clock
        self.settings = settings
        self._looked_at = float("-inf")
        self._several = False
        self._running: dict[str, int] = {}
        #: Projects whose limits are to be read again.
        self._left: list[str] = []

    async def look(self, lanes: Iterable[Lane]) -> None:
        """Set the seats of all projects that the lanes have met, and of those to come."""
        lanes = list(lanes)
        await self._read_limits(lanes)
        for project, limit in list(self._running.items()):
            if limit and self.permits.is_active(project, lanes) and self.permits.is_due(project):
                await self._exchange(project, limit, lanes)

    async def _read_limits(self, lanes: Sequence[Lane]) -> None:
        now = self.clock.now()
        if not self._left:
            if self.clock.monotonic() - self._looked_at < LOOK:
                return
            self._several = await self._are_several(now)
            for lane in lanes:
                lane.forget_idle()
            met = dict.fromkeys(project for lane in lanes for project in lane.shares)
            met |= dict.fromkeys(sorted(self.permits.projects()))
            self._running = {project: self._running[project] for project in met}
            self._left = [*met]
            self._looked_at = self.clock.monotonic()
        some = self._left[:AT_ONCE]
        self._running |= {project: await self._limit_of(project, now) for project in some}
        del self._left[:AT_ONCE]
        for lane in lanes:
            lane.seats_of = self._seats_of
        self._set_seats(lanes)

    async def meet(
        self, claims: Iterable[Claim], lanes: Iterable[Lane], lane_of: Callable[[Claim], Lane]
    ) -> None:
        """Read the limits of projects that are new here, before anything of theirs is started.

        Those that are limited and have no permit yet ask for some, so that the first that runs
        here after a while is not late.
        """
        now, lanes = self.clock.now(), list(lanes)
        projects = sorted({claim.job.project for claim in claims})
        for project in projects:
            if project not in self._running:
                self._running[project] = await self._limit_of(project, now)
        for project in projects:
            if not (limit := self._running[project]):
                continue
            more = Counter(lane_of(each).name for each in claims if each.job.project == project)
            lacking = [lane for lane in lanes if more[lane.name] and not self._has(project, lane)]
            if lacking and self.permits.is_due(project):
                await self._exchange(project, limit, lanes, more)

    def rest(self, lanes: Iterable[Lane]) -> float:
        """Seconds until permits are exchanged again."""
        lanes = list(lanes)
        limited = (project for project, limit in self._running.items() if limit)
        active = any(self.permits.is_active(project, lanes) for project in limited)
        return EXCHANGE if active else float("inf")

    async def leave(self, lanes: Iterable[Lane]) -> None:
        """Nothing more is started: others have the permits on which nothing runs."""
        self.permits.leaving = True
        lanes = list(lanes)
        for project in sorted(self.permits.projects()):
            await self._exchange(project, self._running[project], lanes)

    def disown(self, lanes: Iterable[Lane]) -> None:
        """The worker was declared lost: others may have its permits by now."""
        self.permits.forget()
        self._set_seats(lanes)

    async def _exchange(
        self,
        project: str,
        limit: int,
        lanes: Sequence[Lane],
        more: Mapping[str, int] | None = None,
    ) -> None:
        await self.permits.exchange(
            project, limit, lanes, lambda: self._set_seats(lanes, project), more
        )

    def _has(self, project: str, lane: Lane) -> bool:
        """Whether a lane has a permit that nothing uses."""
        return self.permits.allowed(project, lane) > seated(project, lane)

    def _set_seats(self, lanes: Iterable[Lane], project: str | None = None) -> None:
        for lane in lanes:
            for name, share in lane.shares.items():
                if project is None or name == project:
                    share.seats = self._seats_of(lane, name)
                    share.limit = self._running.get(name, 0)
                    share.part = share.limit / lane.company if share.limit else 1.0

    async def _limit_of(self, project: str, now: int) -> int:
        record = await self.store.get_record(LIMITS_KIND, project, LIMITS_KIND, now)
        return record.document.get("running", 0) if record else self.settings.max_running

    async def _are_several(self, now: int) -> bool:
        for limit in (SOME, MOST):
            made = await self.store.list_records(PROJECT_KIND, PLATFORM_PROJECT, "", now, limit)
            there = {one.key for one in made if one.document.get("deleted_at") is None}
            if there - {FIRST_PROJECT}:
                return True
            if len(made) < limit:
                break
        return False

    def _seats_of(self, lane: Lane, project: str) -> int:
        part = seats(lane.most, self.settings.project_share if self._several else 1.0)
        if not self._running[project]:
            return part
        return min(part, self.permits.allowed(project, lane))
