"""Reads how much of a worker each project may use, from the settings and its own limits."""

from __future__ import annotations

from collections.abc import Iterable

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
from tickwell.ports.store import RecordStore
from tickwell.settings import Settings

#: Seconds between two looks: a limit that is set takes effect within as long.
LOOK = 10.0
#: Limits read in one step: 1,000 one after the other took 0.4 s of PostgreSQL, and fires were late.
AT_ONCE = 20
#: Projects made that are looked at, and where all of those are deleted: one that is not is enough.
SOME, MOST = 100, 10_000


class TenantLimits:
    """Looks at projects and their limits now and then, and sets what each may take of a lane."""

    def __init__(self, store: RecordStore, clock: Clock, settings: Settings) -> None:
        self.store = store
        self.clock = clock
        self.settings = settings
        self._looked_at = float("-inf")
        self._several = False
        self._running: dict[str, int] = {}
        #: Projects whose limits are to be read again.
        self._left: list[str] = []

    async def look(self, lanes: Iterable[Lane]) -> None:
        """Set the seats of all projects that the lanes have met, and of those to come."""
        now = self.clock.now()
        if not self._left:
            if self.clock.monotonic() - self._looked_at < LOOK:
                return
            self._several = await self._are_several(now)
            for lane in lanes:
                lane.forget_idle()
            met = dict.fromkeys(project for lane in lanes for project in lane.shares)
            self._running = {project: self._running[project] for project in met}
            self._left = [*met]
            self._looked_at = self.clock.monotonic()
        some = self._left[:AT_ONCE]
        self._running |= {project: await self._limit_of(project, now) for project in some}
        del self._left[:AT_ONCE]
        for lane in lanes:
            lane.seats_of = self._seats_of
            for project, share in lane.shares.items():
                share.seats = self._seats_of(lane, project)

    async def meet(self, claims: Iterable[Claim]) -> None:
        """Read the limits of projects that are new here, before anything of theirs is started."""
        now = self.clock.now()
        for project in sorted({claim.job.project for claim in claims} - self._running.keys()):
            self._running[project] = await self._limit_of(project, now)

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
        return seats(
            lane.most,
            part=self.settings.project_share if self._several else 1.0,
            running=self._running[project],
            workers=lane.company,
        )
