"""An engine put together by hand, whose store fails on request and whose time stands still."""

import asyncio
import functools
from random import Random

from tickwell import ids
from tickwell.domain.event import Event, Events
from tickwell.domain.execution import Kind, State
from tickwell.domain.gate import Overlap
from tickwell.domain.job import Entry, Job
from tickwell.domain.planning import first_cursor, new_execution
from tickwell.domain.seconds import Seconds
from tickwell.domain.target import Call
from tickwell.domain.trigger import OnDemand
from tickwell.engine.engine import Engine
from tickwell.engine.liveness.reaper import Reaper
from tickwell.errors import StoreUnavailable
from tickwell.ports.records import ExecutionFilter
from tickwell.settings import Settings
from tickwell.stores.memory import MemoryStore
from tickwell.testing.clock import START, ManualClock
from tickwell.testing.executors import FakeExecutor
from tickwell.testing.simulation.loop import SimLoop


class FaultyStore:
    """Passes calls on to a store; fails before or after them as often as told; notes them all."""

    name = "faulty://"

    def __init__(self, store):
        self.store = store
        self.calls = []
        self.before = {}
        self.after = {}
        self.away = False

    def named(self, method):
        return [args for name, args in self.calls if name == method]

    def __getattr__(self, method):
        async def call(*args, **options):
            self.calls.append((method, args))
            await asyncio.sleep(0)
            if self.away or self._takes(self.before, method):
                raise StoreUnavailable("away")
            result = await getattr(self.store, method)(*args, **options)
            await asyncio.sleep(0)
            if self._takes(self.after, method):
                raise StoreUnavailable("the reply was lost")
            return result

        return call

    def _takes(self, faults, method):
        left = faults.get(method, 0)
        faults[method] = left - 1
        return left > 0


#: What engine tests give in seconds.
_DURATIONS = {"rest", "horizon", "lead", "poll", "lease", "beat", "sweep", "drain_timeout"}


def seconds(settings):
    return {
        name: Seconds(value) if name in _DURATIONS else value for name, value in settings.items()
    }


class Rig:
    """One engine on a store of its own."""

    def __init__(
        self,
        *,
        clock=None,
        executor=None,
        memory=None,
        seed=1,
        cold=False,
        inbox=None,
        **settings,
    ):
        self.clock = clock or ManualClock()
        self.memory = memory or MemoryStore(self.clock.now)
        self.store = FaultyStore(self.memory)
        self.executor = executor or FakeExecutor("quick", "other")
        self.events = Events()
        self.told = list[Event]()
        self.events.subscribe(self.told.append)
        self.settings = Settings(store="memory://", **seconds(settings))
        self.random = Random(seed)
        self.engine = Engine(
            self.store,
            self.executor,
            self.clock,
            self.settings,
            random=self.random,
            events=self.events,
            inbox=inbox,
        )
        self.worker = self.engine.worker
        for lane in self.worker.lanes:
            lane.is_cold = cold  # else as if attempts had ended that took as long as is hoped
        self.runner = self.engine.runner
        self.reporter = self.engine.reporter
        #: What a test needs to remember.
        self.id = ""
        self.woken = 0
        self.asked = 0
        self.let_go = asyncio.Event()
        self.reaper = Reaper(self.store, self.clock, self.events, self.settings, self.wake)

    def wake(self):
        self.woken += 1

    def heard(self, kind):
        return [event for event in self.told if isinstance(event, kind)]

    async def beat(self):
        """Introduce the worker, or let it beat again, without setting any loop going."""
        self.engine._started_at = self.clock.now()
        await self.engine.pulse.step()

    async def add(self, name="job", handler="quick", trigger=None, **options):
        now = self.clock.now()
        job = Job(
            id=name,
            name=name,
            trigger=trigger or OnDemand(),
            target=Call(handler),
            created_at=now,
            saved_at=now,
            **options,
        )
        await self.memory.add_jobs([Entry(job, first_cursor(job, now))], now)
        return job

    async def request(self, job, in_seconds=0.0, horizon=60_000, payload=None):
        """Ask for a run; those later than now are queued ahead of their instant."""
        now = self.clock.now()
        run_at = now + int(in_seconds * 1000)
        new = new_execution(
            job,
            run_at,
            id=ids.new_id(now, self.random),
            kind=Kind.REQUEST,
            overlap=Overlap.ALLOW,
            payload=payload,
        )
        await self.memory.add_executions([new], now, horizon)
        return new.id

    async def one(self, id):
        return await self.memory.get_execution("default", id)

    async def state(self, id):
        return (await self.one(id)).state

    async def states(self):
        page = await self.memory.list_executions(ExecutionFilter(), limit=10_000)
        return [one.state for one in page.items]

    async def running(self):
        return (await self.states()).count(State.RUNNING)

    async def settle(self):
        """Let tasks run; no time passes."""
        for _ in range(20):
            await asyncio.sleep(0)


class LoopClock:
    """The time of the event loop, which is virtual."""

    def __init__(self):
        self.sampled_at = float("-inf")

    def now(self):
        return START + int(round(self.monotonic() * 1000, 3))

    def monotonic(self):
        return asyncio.get_running_loop().time()

    def sample(self, store_time, sent, received):
        self.sampled_at = received

    def sample_age(self):
        return self.monotonic() - self.sampled_at

    def host_offset(self):
        return 0

    async def wait(self, wake, seconds):
        if wake.is_set() or seconds <= 0:
            await asyncio.sleep(0)
            return
        try:
            async with asyncio.timeout(seconds):
                await wake.wait()
        except TimeoutError:
            return

    def call_later(self, seconds, callback):
        asyncio.get_running_loop().call_later(seconds, callback)

    def hold_until(self, instant):
        """Virtual time does not pass by waiting for it."""


def virtually(test):
    """Run a test in virtual time: minutes pass at once."""

    @functools.wraps(test)
    def run():
        loop = SimLoop(Random(7))
        try:
            loop.run_until_complete(test())
        finally:
            for task in asyncio.all_tasks(loop):
                task._log_destroy_pending = False  # type: ignore[attr-defined]
            loop.close()

    return run
