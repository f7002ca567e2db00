"""The test kit: a real scheduler in memory, in a time that moves only when the test says so."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from difflib import get_close_matches
from typing import Self

from tickwell.clock import to_datetime, to_millis
from tickwell.domain.execution import Execution, State
from tickwell.domain.seconds import Seconds
from tickwell.domain.trigger.duration import Duration, Millis, parse_duration
from tickwell.domain.trigger.moment import exact, say
from tickwell.engine.engine import Engine
from tickwell.errors import InvalidInput, NotFound, NotRunning
from tickwell.ports.records import ExecutionFilter
from tickwell.scheduler import Scheduler
from tickwell.settings import Settings
from tickwell.stores.memory import MemoryStore
from tickwell.testing.clock import ManualClock

#: Seconds of real time that attempts get to end before time goes on.
PATIENCE = 10.0
#: Seconds between beats, sweeps and looks without a reason: a year should pass in a moment.
QUARTER = 6 * 3600.0


class Stuck(AssertionError):
    """An attempt did not end, and time does not go on without it."""


class KitClock(ManualClock):
    """Time goes on when every attempt under way has ended: handlers take no time at all."""

    def __init__(self) -> None:
        super().__init__()
        self.engine: Engine | None = None
        self.patience = PATIENCE

    def set(self, instant: int) -> None:
        """Begin at another instant."""
        self._offset += instant - self.now()

    async def settle(self) -> None:
        while True:
            await super().settle()
            started = self.engine.runner.started() if self.engine and self.patience else []
            tasks = [attempt.task for attempt in started if attempt.task is not None]
            if not tasks:
                return
            _, late = await asyncio.wait(tasks, timeout=self.patience)
            if late:
                names = sorted({attempt.claim.job.name for attempt in started})
                raise Stuck(
                    f"{', '.join(names)} did not end within {self.patience:g} s of real time;"
                    " let it end, or travel with wait=False"
                )


class Kit:
    """What the fixture `tickwell` gives to a test."""

    def __init__(self) -> None:
        self.clock = KitClock()
        #: The scheduler that was taken over, with the settings to give back.
        self._taken: tuple[Scheduler, Settings] | None = None
        self._begun = False
        #: The event loop in which time was moved last; `asyncio.run` makes a new one each time.
        self._loop: asyncio.AbstractEventLoop | None = None
        #: The scheduler under test: an empty one, unless you `use` your own.
        self.scheduler = Scheduler("memory://")
        self.use(self.scheduler)
        #: Declares jobs on it.
        self.job = self.scheduler.job

    def use(self, scheduler: Scheduler) -> None:
        """Run the jobs of your own scheduler: in memory and in virtual time, for this test."""
        if self._begun:
            raise NotRunning("the kit runs already; use your scheduler before time moves")
        _require_scheduler(scheduler)
        self.restore()
        self._taken = (scheduler, scheduler.settings)
        self.scheduler, self.job = scheduler, scheduler.job
        scheduler.live_on(
            MemoryStore(self.clock.now),
            self.clock,
            _unhurried(scheduler.settings),
            claims_loop=True,
        )

    def restore(self) -> None:
        """Give the scheduler its own store and clock back."""
        if self._taken is not None:
            scheduler, settings = self._taken
            self._taken = None
            scheduler.settings = settings
            scheduler.move_to(settings.store)

    def start_at(self, moment: datetime) -> None:
        """Choose the moment at which the test begins; before time moves."""
        if self._begun:
            raise NotRunning("time moves already; choose the moment before")
        self.clock.set(to_millis(exact(moment, "moment")))

    @property
    def now(self) -> datetime:
        """What time it is, in UTC."""
        return to_datetime(self.clock.now())

    async def travel(self, duration: Duration, *, wait: bool = True) -> None:
        """Let time pass; all that comes due on the way runs, in order, each at its instant.

        Time stands still while an attempt runs, unless `wait` is false: then it may run into its
        timeouts.
        """
        seconds = parse_duration(duration, field="travel") / 1000
        await self._begin()
        self.clock.patience = PATIENCE if wait else 0.0
        await self.clock.advance(seconds)

    async def travel_to(self, moment: datetime) -> None:
        """Let time pass until a moment."""
        ahead = to_millis(exact(moment, "moment")) - self.clock.now()
        if ahead < 0:
            raise InvalidInput(
                f"{say(exact(moment, 'moment'))} is over, it is {say(self.now)}",
                field="moment",
                hint="Time only goes on; choose when the test begins by start_at()",
            )
        await self.travel(Millis(ahead))

    async def settle(self) -> None:
        """Run what is due now; no time passes."""
        await self.travel("0s")

    async def runs(self, name: str | None = None) -> Sequence[Execution]:
        """Executions of a job, or of all, in the order in which they started."""
        where = ExecutionFilter(project=self.scheduler.project)
        if name is not None:
            where = replace(where, job_id=await self._id_of(name))
        await self.scheduler.open()
        page = await self.scheduler.executions.list(where)
        found = page.items
        while page.cursor is not None:
            page = await self.scheduler.executions.list(where, page.cursor)
            found += page.items
        ran = [one for one in found if one.started_at is not None]
        return sorted(ran, key=lambda one: (one.started_at or 0, one.fire_time))

    async def _id_of(self, name: str) -> str:
        try:
            return (await self.scheduler.get(name)).job.id
        except NotFound:
            if not self._begun:
                raise AssertionError(
                    f"no job {name!r} yet; let time begin first, by travel() or settle()"
                ) from None
            known = [entry.job.name for entry in await self.scheduler.list()]
            near = get_close_matches(name, known, n=1)
            others = f"there are {', '.join(known)}" if known else "there is none"
            meant = f"did you mean {near[0]!r}?" if near else others
            raise AssertionError(f"no job {name!r}; {meant}") from None

    async def fires(self, name: str) -> Sequence[datetime]:
        """The fire times of a job that were run, in the order in which they started."""
        return [to_datetime(one.fire_time) for one in await self.runs(name)]

    async def assert_ran(self, name: str, times: int | None = None) -> None:
        """Fail unless the job ran; with a number, exactly that many times."""
        fires = await self.fires(name)
        if not fires and times != 0:
            raise AssertionError(await self._did_not_run(name))
        if times is not None and len(fires) != times:
            when = ", ".join(say(fire) for fire in fires[:10])
            raise AssertionError(f"{name!r} ran {_times(len(fires))}, not {_times(times)}: {when}")

    async def _did_not_run(self, name: str) -> str:
        cursor = (await self.scheduler.get(name)).cursor
        if cursor.next_fire_time is None:
            return f"{name!r} did not run"
        return f"{name!r} did not run; it fires next at {say(to_datetime(cursor.next_fire_time))}"

    async def assert_ran_at(self, name: str, *moments: datetime) -> None:
        """Fail unless the job ran for exactly these fire times."""
        fires, wanted = await self.fires(name), [exact(moment, "moment") for moment in moments]
        if list(fires) != wanted:
            ran, due = (", ".join(map(say, each)) or "never" for each in (fires, wanted))
            raise AssertionError(f"{name!r} ran at {ran}; expected {due}")

    async def assert_succeeded(self, name: str | None = None) -> None:
        """Fail unless every run of the job, or of all jobs, succeeded, and there was one."""
        runs = await self.runs(name)
        if not runs:
            raise AssertionError("nothing ran" if name is None else await self._did_not_run(name))
        for one in runs:
            if one.state is not State.SUCCEEDED:
                why = one.error or one.reason or ""
                raise AssertionError(f"execution {one.id} is {one.state}: {why}")

    async def _begin(self) -> None:
        here = asyncio.get_running_loop()
        if self._loop is not here:
            self._begun, self._loop = True, here
            await self.scheduler.start()
            self.clock.engine = self.scheduler.engine

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        """Stop everything that runs; tasks that wait for time to pass are woken."""
        self.clock.patience = 0.0
        stopping = asyncio.ensure_future(self.scheduler.stop())
        while not stopping.done():
            await self.clock.advance(1.0)
            await asyncio.wait([stopping], timeout=0.01)
        await stopping


def _require_scheduler(given: object) -> None:
    if not isinstance(given, Scheduler):
        raise InvalidInput(
            f"{given!r} is no Scheduler",
            field="use",
            hint="For example tickwell.use(shop.scheduler)",
        )


def _times(count: int) -> str:
    return "once" if count == 1 else f"{count} times"


def _unhurried(settings: Settings) -> Settings:
    """Nothing is pruned, the way home is open, and beats are rare: nobody is there to be lost."""
    return replace(
        settings,
        store="memory://",
        beat=Seconds(QUARTER),
        ttl=Seconds(5 * QUARTER),
        sweep=Seconds(QUARTER),
        poll=Seconds(QUARTER),
        prune_every=Seconds(1e12),
        drain_timeout="100ms",
        allow_http=True,
        allow_private=(*settings.allow_private, "127.0.0.0/8", "::1/128"),
        allow_ports=("1-65535",),
    )
