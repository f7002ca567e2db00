"""The pulse: one beat per process, and the sample of the store's time that all loops go by."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from tickwell.clock import Clock
from tickwell.domain import worker as domain
from tickwell.errors import StoreUnavailable
from tickwell.ports.store import Store
from tickwell.settings import Settings

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
        #: A beat that failed is soon tried again: whoever rested longer than others after an
        #: outage would be declared lost by them, and everything here waits for the first that
        #: succeeds.
        self.longest_rest = min(LONGEST_REST, settings.beat / 2)
        #: Seconds for a beat: of two that begin after a rest, the second is still in time. So a
        #: connection that died without a word is given up before it costs the lease.
        self.patience = (settings.ttl - settings.beat) / 2.5

    async def step(self) -> float:
        """Beat, and be heard before the lease ends."""
        try:
            async with asyncio.timeout(self.patience):
                await self.beat()
        except TimeoutError as error:
            raise StoreUnavailable(
                f"the store has not answered a beat for {self.patience:g} s; it is asked again on a"
                " fresh connection"
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
