"""The pulse: one beat per process, and the sample of the store's time that all loops go by."""

from __future__ import annotations

import asyncio
import contextlib
import threading
from collections.abc import Callable

from tickwell.clock import Clock
from tickwell.domain import worker as domain
from tickwell.domain.event import Event, Events
from tickwell.engine.loop import Loop
from tickwell.errors import StoreUnavailable, TickwellError
from tickwell.ports.store import Store
from tickwell.settings import Settings
from tickwell.threads import AwaitedThread

#: Seconds between two beats while the store is away.
LONGEST_REST = 1.0


class Pulse:
    """Runs in a thread of its own where the store allows it: a blocked loop is late, not lost."""

    name = "pulse"

    def __init__(
        self,
        store: Store,
        clock: Clock,
        settings: Settings,
        identity: Callable[[], domain.Worker],
        deliver: Callable[[domain.Pulse, float], None],
    ) -> None:
        self.store = store
        self.clock = clock
        self.settings = settings
        self.identity = identity
        self.deliver = deliver
        #: A beat that failed is soon tried again: a worker that rested longer than others after an
        #: outage would be declared lost by them, and everything here waits for the first that
        #: succeeds.
        self.longest_rest = min(LONGEST_REST, settings.beat / 2)
        #: Seconds for a beat: of two that begin after a rest, the second is still in time. So a
        #: connection that died without an error message is given up before it costs the lease.
        self.patience = (settings.lease - settings.beat) / 2.5

    async def step(self) -> float:
        """Beat, and be heard before the lease ends."""
        try:
            async with asyncio.timeout(self.patience):
                await self.beat()
        except TimeoutError as error:
            raise StoreUnavailable(
                f"the store has not answered a heartbeat for {self.patience:g} s; retrying on a new"
                " connection"
            ) from error
        return self.settings.beat

    async def beat(self) -> None:
        """Sample the store's time; beat, and hand the answer to the worker."""
        # Before the request is sent: a slow answer does not stretch the lease.
        sent = self.clock.monotonic()
        store_time = await self.store.ping()
        self.clock.sample(store_time, sent, self.clock.monotonic())
        pulse = await self.store.beat(self.identity(), self.clock.now())
        self.deliver(pulse, sent)

    async def leave(self) -> None:
        """The last write of a process that owns nothing any more."""
        await self.store.beat(self.identity(), self.clock.now(), leaving=True)


class PulseThread:
    """Beats while the main loop is blocked: a blocking handler makes a worker late, not lost."""

    name = "pulse"

    def __init__(self, pulse: Pulse, open_store: Callable[[], Store], events: Events) -> None:
        self.pulse = pulse
        self.open_store = open_store
        self.events = events
        self.clock: Clock = pulse.clock
        self._ready = threading.Event()
        #: The first try to connect is over, however it ended.
        self._tried = threading.Event()
        self._thread = AwaitedThread(self._main, "tickwell-pulse")
        self._store: Store | None = None
        self._home: asyncio.AbstractEventLoop | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self._service_loop: Loop | None = None
        deliver = pulse.deliver
        pulse.deliver = lambda answer, sent: self._at_home(lambda: deliver(answer, sent))

    def trouble(self, patience: float) -> str | None:
        """Why the last beat failed, or that it has not come back."""
        return self._service_loop.trouble(patience) if self._service_loop else None

    async def step(self) -> float:
        """Open the store, in this thread, when it is not open yet; then beat."""
        if self._store is None:
            try:
                self._store = self.pulse.store = await self._opened()
            finally:
                self._tried.set()
        return await self.pulse.step()

    async def _opened(self) -> Store:
        store = self.open_store()
        try:
            await store.open()
        except BaseException:
            # The next try makes another: what this one has dialled is not left open beside it.
            with contextlib.suppress(TickwellError):
                await store.close()
            raise
        return store

    async def start(self) -> None:
        """Connect, and begin to beat.

        The other services start after it: where a server has fewer connections than they would
        take, none is left for a pulse that comes last, and without it they stop.
        """
        self._home = asyncio.get_running_loop()
        self._thread.start()
        await asyncio.to_thread(self._tried.wait)

    def wake(self) -> None:
        """Beat now."""
        if self._loop is not None and self._service_loop is not None:
            self._loop.call_soon_threadsafe(self._service_loop.wake.set)

    @property
    def has_begun(self) -> bool:
        """Whether there is a thread to be stopped."""
        return self._thread.ident is not None

    async def stop(self) -> None:
        """End, with a last beat that says so."""
        if not self._ready.is_set():  # the thread that started it may have been interrupted
            await asyncio.to_thread(self._ready.wait)
        if self._loop is not None and self._service_loop is not None:
            self._loop.call_soon_threadsafe(self._service_loop.stop)
            await self._thread.ended(10)

    def _main(self) -> None:
        asyncio.run(self._run())

    async def _run(self) -> None:
        self._loop = asyncio.get_running_loop()
        forwarding = Events()
        forwarding.subscribe(self._forward)
        self._service_loop = Loop(self, self.clock, forwarding, self.pulse.longest_rest)
        self._ready.set()
        try:
            await self._service_loop.run()
        finally:
            self._tried.set()
        if self._store is not None:
            with contextlib.suppress(TickwellError):  # the silence will tell it as well
                await self.pulse.leave()
            await self._store.close()

    def _forward(self, event: Event) -> None:
        self._at_home(lambda: self.events.emit(event))

    def _at_home(self, call: Callable[[], None]) -> None:
        """Run something in the engine's own loop; events and answers belong there."""
        if self._home is not None and not self._home.is_closed():
            self._home.call_soon_threadsafe(call)
