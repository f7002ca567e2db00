"""The engine: planner, worker and reaper in one process, from start to drain."""

from __future__ import annotations

import asyncio
import contextlib
import os
import socket
from collections.abc import Callable, Collection, Sequence
from dataclasses import replace

from tickwell import ids
from tickwell.clock import Clock
from tickwell.domain import worker as domain
from tickwell.domain.event import Events, Idle, JobUnreadable, Started, Stopped
from tickwell.domain.health import ProcessHealth
from tickwell.engine.charts.depth_sampler import DepthSampler
from tickwell.engine.charts.tallies import Tallies
from tickwell.engine.claiming.lane import make_lanes
from tickwell.engine.claiming.worker import Worker
from tickwell.engine.hints.hint_worker import HintInbox, HintWorker
from tickwell.engine.liveness.process_identity import own_process
from tickwell.engine.liveness.pulse import Pulse, PulseThread
from tickwell.engine.liveness.reaper import Reaper
from tickwell.engine.loop import ClosingService, Loop, Service, WakingService, follow
from tickwell.engine.planning.planner import Planner
from tickwell.engine.running.reporter import Reporter
from tickwell.engine.running.runner import Runner
from tickwell.engine.running.start_guard import StartGuard
from tickwell.engine.watcher import Watcher
from tickwell.errors import TickwellError
from tickwell.ports.executor import Conditions, Executor
from tickwell.ports.notifier import Notifier, PlannerLease
from tickwell.ports.store import Store
from tickwell.ports.tracer import Tracer
from tickwell.release import VERSION
from tickwell.settings import Settings

ROLES = frozenset({"planner", "worker"})
#: Seconds that a store call under way gets to end, and unwritten reports, when the engine stops.
GOODBYE = 2.0
#: Seconds between two beats that only ask whether an attempt is to be cancelled.
HEAR = 1.0
FLUSH = 10.0


class Engine:
    """Owns the loops. Every process has a reaper: any live process recovers lost attempts."""

    def __init__(
        self,
        store: Store,
        executor: Executor,
        clock: Clock,
        settings: Settings,
        *,
        random: ids.Random,
        events: Events | None = None,
        roles: Collection[str] = ROLES,
        notifier: Notifier | None = None,
        planner_lease: PlannerLease | None = None,
        open_pulse_store: Callable[[], Store] | None = None,
        extra: Sequence[WakingService] = (),
        inbox: HintInbox | None = None,
        tracer: Tracer | None = None,
        conditions: Conditions | None = None,
    ) -> None:
        self.store = store
        self.executor = executor
        self.clock = clock
        self.settings = settings
        self.random = random
        self.events = events or Events()
        self.roles = roles
        self.running = False
        self._loops: dict[str, Loop] = {}
        self._tasks: dict[str, asyncio.Task[None]] = {}
        self._planner_lease = planner_lease
        self._tracer = tracer
        self._extra = extra
        self.inbox = inbox
        self._conditions = conditions
        self._build(notifier, open_pulse_store)

    def _build(
        self, notifier: Notifier | None, open_pulse_store: Callable[[], Store] | None
    ) -> None:
        store, clock, events, settings = self.store, self.clock, self.events, self.settings
        guard = StartGuard(clock, settings.batch)
        self.reporter = Reporter(
            store,
            clock,
            events,
            settings,
            guard=guard,
            wake_planner=self.wake_planner,
            wake_worker=self.wake_worker,
        )
        self.runner = Runner(
            self.executor, self.reporter, clock, settings, guard, conditions=self._conditions
        )
        lanes = make_lanes(settings, self.executor.abilities())
        parts = store, clock, settings, self.runner
        self.worker = (
            Worker(*parts, lanes=lanes, new_id=self._new_id)
            if self.inbox is None
            else HintWorker(*parts, lanes=lanes, new_id=self._new_id, inbox=self.inbox)
        )
        self.pulse = Pulse(store, clock, settings, self._identity, self._on_pulse)
        self.pulse_thread = (
            PulseThread(self.pulse, open_pulse_store, events) if open_pulse_store else None
        )
        self.reaper = Reaper(store, clock, events, settings, self.wake)
        self.reaper.on_workers = self.worker.company.learn
        services: list[Service] = [self.reaper]
        if "planner" in self.roles:
            services.append(
                Planner(
                    store,
                    clock,
                    events,
                    settings,
                    wake_worker=self.wake_worker,
                    hear=self.hear,
                    recall=self.worker.recall,
                    prepare=self.executor.prepare if "worker" in self.roles else None,
                    planner_lease=self._planner_lease,
                    tracer=self._tracer,
                )
            )
        self.tallies = Tallies(store, clock, owner=self.worker.id)
        events.subscribe(self.tallies.on_event)
        sampler = DepthSampler(store, clock, owner=self.worker.id, shortest_rest=settings.sweep)
        services += [self.tallies, sampler]
        if "worker" in self.roles:
            services += [self.worker, self.reporter, self.runner.deadlines]
            services += [self.worker.refusals, self.runner.starts]
        if notifier is not None:
            services.append(Watcher(notifier, settings, self._on_change))
        if self.pulse_thread is None:
            services.append(self.pulse)
        services += self._extra
        self._loops = {service.name: Loop(service, clock, events) for service in services}
        if self.pulse_thread is None:
            self._loops["pulse"].longest_rest = self.pulse.longest_rest
        events.subscribe(follow(self.pulse.name, self._loops.values()))
        if self.inbox is not None:
            self.inbox.wake = self._waker("worker")
        self.reporter.wake = self._waker("reporter")
        self.runner.deadlines.wake = self._waker("deadlines")
        self.runner.starts.wake = self._waker("starts")
        self.tallies.wake = self._waker("tallies")
        self.worker.refusals.wake = self._waker("refusals")
        self.worker.on_idle = self._on_idle
        self.worker.on_unreadable = self._on_unreadable
        self.worker.refusals.on_change = self.wake_pulse
        for each in self._extra:
            each.wake = self._waker(each.name)
        self._heard_at = float("-inf")
        self._hearing: asyncio.TimerHandle | None = None

    def learn(self) -> None:
        """The executor can do more than when the engine was built: claim it, and announce it."""
        self.worker.learn(self.executor.abilities())
        self.wake()
        self.wake_pulse()

    def announce(self, role: str) -> None:
        """Beat with one more role from now on; the engine itself does nothing for it."""
        self.roles = frozenset(self.roles) | {role}
        self.wake_pulse()

    def _on_idle(self) -> None:
        if self.events.wanted:
            self.events.emit(Idle(worker=self.worker.id))

    def _on_unreadable(self, job: str, why: str) -> None:
        self.events.emit(JobUnreadable(job=job, why=why))

    def _new_id(self) -> str:
        return ids.new_id(self.clock.now(), self.random)

    def _identity(self) -> domain.Worker:
        found = domain.Worker(
            id=self.worker.id,
            host=socket.gethostname(),
            pid=os.getpid(),
            queues=(),
            abilities=(),
            capacity=0,
            started_at=self._started_at,
            process=own_process(),
            roles=tuple(sorted(self.roles)),
            version=VERSION,
            beat_every=int(self.settings.beat * 1000),
            clock_offset=self.clock.host_offset(),
        )
        if "worker" not in self.roles:
            return found
        lanes = self.worker.lanes
        return replace(
            found,
            queues=self.settings.queues,
            abilities=tuple(sorted(name for names in lanes.values() for name in names)),
            capacity=self.worker.capacity,
            busy=sum(lane.busy for lane in lanes),
            refusals=self.worker.refusals.announced(),
        )

    async def start(self) -> None:
        """Read the store's time, beat once, and set the loops going."""
        sent = self.clock.monotonic()
        self.clock.sample(await self.store.ping(), sent, self.clock.monotonic())
        self._started_at = self.clock.now()
        self.worker.id = self.worker.new_worker_id()
        try:
            await self.pulse.beat()  # a worker claims only what it is known to be alive for
            if self.pulse_thread is not None:
                await self.pulse_thread.start()
        except (Exception, asyncio.CancelledError):
            # A pulse without a worker would beat for ever; it ends even if this is cancelled again.
            await asyncio.shield(asyncio.create_task(self._say_goodbye()))
            raise
        self._tasks = {
            name: asyncio.create_task(loop.run(), name=f"tickwell-{name}")
            for name, loop in self._loops.items()
        }
        self.running = True
        self.events.emit(Started(worker=self.worker.id))

    async def stop(self) -> None:
        """Claim nothing more, let attempts end, write what they report, say goodbye."""
        if not self.running:
            return
        self.running = False
        self.worker.draining = True
        self._stop("worker", "planner", "watcher", "reaper")
        if self._hearing is not None:
            self._hearing.cancel()
        if "watcher" in self._tasks:
            self._tasks["watcher"].cancel()  # it only ever waits
        if "worker" in self._tasks:
            # A claim under way ends first: what it hands over is drained like the rest.
            await asyncio.wait([self._tasks["worker"]], timeout=GOODBYE)
        released = await self.worker.drain(self.settings.drain_timeout)
        await self._flush()
        with contextlib.suppress(TickwellError):  # the last seconds of a chart
            await self.tallies.flush()
            if "worker" in self.roles:
                await self.worker.recall.leave()
        self._stop(*self._loops)
        tasks = list(self._tasks.values())
        await asyncio.wait(tasks, timeout=GOODBYE)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        for each in self._extra:
            if isinstance(each, ClosingService):
                with contextlib.suppress(TickwellError):  # the store or the broker is away
                    await each.close()
        await self.executor.close()
        await self.runner.conditions.close()
        await self._say_goodbye()
        self.events.emit(Stopped(released=released))

    async def _say_goodbye(self) -> None:
        if self.pulse_thread is not None and self.pulse_thread.has_begun:
            await self.end_pulse_thread()
            return
        with contextlib.suppress(TickwellError):  # a store that is away learns it by the silence
            await self.pulse.leave()

    async def _flush(self) -> None:
        """Reports are the last thing to be given up: a store that is away gets a while."""
        waited, nobody = self.clock.monotonic(), asyncio.Event()
        while self.reporter.backlog and self.clock.monotonic() - waited < FLUSH:
            self.reporter.wake()
            await self.clock.wait(nobody, 0.01)

    def _stop(self, *names: str) -> None:
        for name in (name for name in names if name in self._loops):
            self._loops[name].stop()

    def _waker(self, name: str) -> Callable[[], None]:
        loop = self._loops.get(name)
        return loop.wake.set if loop else lambda: None

    def wake(self) -> None:
        """Something was written: planner and worker look at once."""
        self.wake_planner()
        self.wake_worker()

    def wake_planner(self) -> None:
        """A job or a retry may be due sooner than the planner thinks."""
        self._waker("planner")()

    def wake_worker(self) -> None:
        """Something was queued, or capacity came free."""
        self._waker("worker")()
        self._waker("dispatcher")()

    async def end_pulse_thread(self) -> None:
        """Stop the heartbeat; also when the event loop of the engine is gone, and nothing else."""
        if self.pulse_thread is not None and self.pulse_thread.has_begun:
            await self.pulse_thread.stop()

    def wake_pulse(self) -> None:
        """Ask the store now whether an attempt here is to be cancelled."""
        if self.pulse_thread is not None:
            self.pulse_thread.wake()
        else:
            self._waker("pulse")()

    def _on_change(self) -> None:
        """Another process wrote: it may have been a cancel request, so hear, once a second.

        Our own beat is such a write too: what follows it at once is no reason to beat again.
        """
        self.wake()
        if self.clock.monotonic() - self._heard_at > HEAR:
            self.hear()

    def hear(self) -> None:
        """A cancel request may have been written: beat now, or a second after the last beat."""
        if not self.runner.in_hand or self._hearing is not None:
            return
        wait = max(self._heard_at + HEAR - self.clock.monotonic(), 0)
        self._hearing = asyncio.get_running_loop().call_later(wait, self._hear_now)

    def _hear_now(self) -> None:
        self._hearing = None
        self.wake_pulse()

    def _on_pulse(self, pulse: domain.Pulse, sent: float) -> None:
        self._heard_at = self.clock.monotonic()
        self.worker.on_pulse(pulse, sent)
        self.wake_worker()
        if pulse.lost:
            self.wake_pulse()  # the new incarnation introduces itself before it claims

    def stepped_at(self, service: str) -> int | None:
        """When a service last finished a step; None without the service, or before its first."""
        loop = self._loops.get(service)
        return None if loop is None else loop.stepped_at

    def health(self) -> ProcessHealth:
        """What is wrong now, if anything."""
        # The watcher's step lasts as long as a poll with nothing wrong.
        patience = max(3 * self.settings.beat, 2 * self.settings.poll)
        troubles = {name: loop.trouble(patience) for name, loop in self._loops.items()}
        if self.pulse_thread is not None:
            troubles["pulse"] = self.pulse_thread.trouble(patience)
        problems = [f"{name}: {trouble}" for name, trouble in troubles.items() if trouble]
        if not self.running:
            problems.append("the engine is not running")
        return ProcessHealth(
            ok=not problems,
            problems=problems,
            full=self.worker.full(),
            in_hand=len(self.runner.in_hand),
            backlog=self.reporter.backlog,
        )
