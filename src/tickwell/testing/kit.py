"""The test kit: a real scheduler in memory, in a time that moves only when the test says so."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from difflib import get_close_matches
from typing import Any, Self

from tickwell.clock import to_datetime, to_millis
from tickwell.declared.internals import internals
from tickwell.declared.read_models import Execution, execution_of
from tickwell.domain.current import CURRENT_CLAIM
from tickwell.domain.execution import Kind, State
from tickwell.domain.seconds import Seconds
from tickwell.domain.trigger.duration import Duration, Millis, parse_duration
from tickwell.domain.trigger.moment import exact, say
from tickwell.engine.engine import Engine
from tickwell.errors import InvalidInput, NotFound, NotRunning
from tickwell.executors.jsonable import jsonable
from tickwell.ports.records import ExecutionFilter
from tickwell.scheduler import Scheduler
from tickwell.services.jobs.jobs_by_id import jobs_by_id
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
    """Time goes on when every attempt under way has ended: handlers and conditions take none."""

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
            under_way = self.engine.runner.under_way() if self.engine and self.patience else []
            tasks = [attempt.task for attempt in under_way if attempt.task is not None]
            if not tasks:
                return
            _, late = await asyncio.wait(tasks, timeout=self.patience)
            if late:
                names = sorted({attempt.claim.job.name for attempt in under_way})
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
        self._eager = False
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
        internals(scheduler).live_on(
            MemoryStore(self.clock.now),
            self.clock,
            _unhurried(scheduler.settings),
            claims_loop=True,
        )
        internals(scheduler).at_once = self._at_once if self._eager else None

    def restore(self) -> None:
        """Give the scheduler its own store and clock back."""
        if self._taken is not None:
            scheduler, settings = self._taken
            self._taken = None
            inside = internals(scheduler)
            inside.at_once = None
            inside.settings = settings
            inside.move_to(settings.store)

    @property
    def eager(self) -> bool:
        """Whether a requested run has ended when the request is answered; no time passes."""
        return self._eager

    @eager.setter
    def eager(self, chosen: bool) -> None:
        self._eager = chosen
        internals(self.scheduler).at_once = self._at_once if chosen else None

    async def _at_once(self, requested: Execution[Any]) -> Execution[Any]:
        if CURRENT_CLAIM.get() is not None:
            return requested  # by a handler: it runs when this one has ended
        await self.settle()
        return await self.scheduler.get_execution(requested.id)

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

    async def runs(self, name: str | None = None) -> Sequence[Execution[Any]]:
        """Executions of a job, or of all, in the order in which they started."""
        where = ExecutionFilter(project=self.scheduler.project)
        await self.scheduler.open()
        if name is not None:
            where = replace(where, job_id=await self._id_of(name))
        ran = [one for one in await self._read(where) if one.started_at is not None]
        return sorted(ran, key=lambda one: (one.started_at or self.now, one.fire_time))

    async def _read(self, where: ExecutionFilter) -> list[Execution[Any]]:
        services = internals(self.scheduler)
        page = await services.executions.list(where)
        found = page.items
        while page.cursor is not None:
            page = await services.executions.list(where, page.cursor)
            found += page.items
        ids = {one.job_id for one in found}
        jobs = await jobs_by_id(services.jobs.store, self.scheduler.project, ids)
        known = {id: (each.job.name, services.read_result(each.job)) for id, each in jobs.items()}
        return [execution_of(one, *known[one.job_id]) for one in found]

    async def _id_of(self, name: str) -> str:
        try:
            return (await self.scheduler.get_job(name)).id
        except NotFound:
            if not self._begun:
                raise AssertionError(
                    f"no job {name!r} yet; let time begin first, by travel() or settle()"
                ) from None
            known = [job.name for job in await self.scheduler.jobs()]
            near = get_close_matches(name, known, n=1)
            others = f"there are {', '.join(known)}" if known else "there is none"
            meant = f"did you mean {near[0]!r}?" if near else others
            raise AssertionError(f"no job {name!r}; {meant}") from None

    async def fires(self, name: str) -> Sequence[datetime]:
        """The fire times of a job that were run, in the order in which they started."""
        return [one.fire_time for one in await self.runs(name)]

    async def assert_ran(self, name: str, times: int | None = None) -> None:
        """Fail unless the job ran; with a number, exactly that many times."""
        fires = await self.fires(name)
        if not fires and times != 0:
            raise AssertionError(await self._did_not_run(name))
        if times is not None and len(fires) != times:
            when = ", ".join(say(fire) for fire in fires[:10])
            raise AssertionError(f"{name!r} ran {_times(len(fires))}, not {_times(times)}: {when}")

    async def _did_not_run(self, name: str) -> str:
        job = await self.scheduler.get_job(name)
        if job.next_fire_time is None:
            return f"{name!r} did not run"
        return f"{name!r} did not run; it fires next at {say(job.next_fire_time)}"

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
                why = one.error or one.explanation
                raise AssertionError(f"execution {one.id} is {one.state}: {why}")

    async def triggered(self, name: str) -> Sequence[Execution[Any]]:
        """Requested runs of a job, in the order of the requests, whether or not they have run."""
        await self.scheduler.open()
        where = ExecutionFilter(project=self.scheduler.project, kind=Kind.REQUEST)
        found = await self._read(replace(where, job_id=await self._id_of(name)))
        return sorted(found, key=lambda one: (one.created_at, one.id))

    async def assert_triggered(
        self, name: str, payload: Any = ..., *, times: int | None = None
    ) -> Sequence[Execution[Any]]:
        """Fail unless a run of the job was requested, with this payload; return the requests.

        With a number, exactly that many times. `scheduler.trigger_in` and `trigger_at` count.
        """
        requests = await self.triggered(name)
        wanted = requests
        if payload is not ...:
            written = jsonable(payload)
            wanted = [one for one in requests if one.payload == written]
        if len(wanted) == times or (wanted and times is None):
            return wanted
        asked = "was not triggered" if times is None else f"was triggered {_times(len(wanted))}"
        words = f"{name!r} {asked}{'' if payload is ... else f' with {payload!r}'}"
        if times is not None:
            words += f", not {_times(times)}"
        others = ", ".join(repr(one.payload) for one in requests[:10])
        raise AssertionError(f"{words}; requests had {others}" if others else words)

    async def _begin(self) -> None:
        here = asyncio.get_running_loop()
        if self._loop is not here:
            self._begun, self._loop = True, here
            await self.scheduler.start()
            self.clock.engine = internals(self.scheduler).engine

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


def _require_scheduler(value: object) -> None:
    if not isinstance(value, Scheduler):
        raise InvalidInput(
            f"{value!r} is no Scheduler",
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
        lease=Seconds(5 * QUARTER),
        sweep=Seconds(QUARTER),
        poll=Seconds(QUARTER),
        prune_every=Seconds(1e12),
        drain_timeout="100ms",
        allow_http=True,
        allow_private=(*settings.allow_private, "127.0.0.0/8", "::1/128"),
        allow_ports=("1-65535",),
    )
