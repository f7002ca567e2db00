"""The dispatcher: tells the workers of another task queue what is due, by a hint for each.

A hint changes nothing: the execution stays queued until a worker claims it. So a hint that is lost,
repeated or late costs time, and no promise. What stays unclaimed gets another hint.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from os import getpid
from socket import gethostname

from tickwell.clock import Clock
from tickwell.domain.fairness import PLATFORM_PROJECT
from tickwell.engine.claiming.open_queues import OpenQueues
from tickwell.engine.liveness.process_identity import is_gone, own_process
from tickwell.ports.broker import Broker, Hint
from tickwell.ports.records import Claimable, ClaimRequest, Record
from tickwell.ports.store import Store
from tickwell.settings import Settings

#: Hints that wait in one queue of the broker at most, for each seat of its workers. A seat that was
#: woken goes on with whatever is due: more hints would only be late, and each costs a message.
PER_SEAT = 2
#: Milliseconds that a hint is sent ahead of the instant. The worker reserves capacity until then.
AHEAD = 100
#: Seconds until a hint that left the broker without a claim is sent again; doubled each time.
AGAIN, LONGEST = 1.0, 30.0
#: Seconds between two looks at the workers.
LOOK = 1.0
#: Seconds until a dispatcher that is silent is replaced, where its process cannot be looked at.
LEASE = 5.0
#: Seconds between two steps while hints are under way.
BUSY = 0.02
KIND = "dispatcher"


@dataclass(slots=True)
class _Sent:
    """A hint on its way: the how many-eth it was, and when to send it again if it got lost."""

    number: int
    again_at: float
    wait: float = AGAIN


@dataclass(slots=True)
class _Line:
    """What was sent to one queue, and is not claimed yet."""

    count: int = 0
    sent: dict[tuple[str, int], _Sent] = field(default_factory=dict)
    #: Whether it holds hints enough for now: it is looked at again when some have left it.
    is_supplied: bool = False

    def pick(self, found: Sequence[Claimable], depth: int, room: int, now: float) -> list[Hint]:
        """What to send now, of all that is claimable; what is not is forgotten.

        A queue is first in, first out: with no more waiting in it than was sent after a hint, that
        one has left it. Unclaimed for a while since, it was lost, or could not be used.
        """
        remaining, picked = dict[tuple[str, int], _Sent](), list[Hint]()
        for one in found:
            key = one.id, one.rank
            sent = self.sent.get(key)
            is_lost = sent and depth <= self.count - sent.number and now >= sent.again_at
            if (sent is None or is_lost) and len(picked) < room:
                wait = min(sent.wait * 2, LONGEST) if sent else AGAIN
                self.count += 1
                sent = _Sent(self.count, now + wait, wait)
                picked.append(Hint(one.queue, one.id))
            if sent is not None:
                remaining[key] = sent
        self.sent = remaining
        return picked


class Dispatcher:
    """Keeps the broker's queues supplied, and no fuller than that."""

    name = "dispatcher"

    def __init__(self, store: Store, clock: Clock, settings: Settings, broker: Broker) -> None:
        self.store = store
        self.clock = clock
        self.settings = settings
        self.broker = broker
        self.wake: Callable[[], None] = lambda: None
        self.queues = OpenQueues(store, clock, settings.queues)
        #: Planners of other queues have a lease of their own.
        self._key = sha256("\n".join(sorted(settings.queues)).encode()).hexdigest()[:32]
        self.process = own_process() or f"{gethostname()} {getpid()}"
        self._lines = {queue: _Line() for queue in settings.queues}
        #: What the live workers of each queue can run.
        self._abilities: dict[str, frozenset[str]] = {}
        #: Hints that may wait in each queue.
        self._windows: dict[str, int] = {}
        self._looked_at = self._leads_until = self._busy_until = float("-inf")
        #: When another dispatcher's lease is read again: each write in the store wakes us.
        self._lease_again_at = float("-inf")

    async def step(self) -> float:
        """Send what is due; say how long to rest."""
        await self._pace()
        if not await self._leads():
            return max(self._lease_again_at - self.clock.monotonic(), 0.0)
        asked_at = self.clock.now()
        queues = await self.queues.look()
        depths = await self.broker.depths(queues) if queues else []
        await self._look_at_workers()
        hints = list[Hint]()
        for queue, depth in zip(queues, depths, strict=True):
            hints += await self._pick(queue, depth, asked_at)
        if hints:
            await self._send(hints)
        if any(line.sent for line in self._lines.values()):
            self._busy_until = self.clock.monotonic() + BUSY
        return await self._rest(asked_at, queues)

    async def close(self) -> None:
        """Release the lease, so that another dispatcher takes over at once, and hang up."""
        self.broker.close()
        if self.clock.monotonic() >= self._leads_until + LEASE / 2:
            return  # it has none that is valid
        held = await self.store.get_record(KIND, PLATFORM_PROJECT, self._key, self.clock.now())
        if held is not None and held.document["process"] == self.process:
            await self.store.delete_record(KIND, PLATFORM_PROJECT, self._key)

    async def _pace(self) -> None:
        """Every claim wakes us while there is a backlog; a look at it takes a while."""
        wait = self._busy_until - self.clock.monotonic()
        if wait > 0:
            await self.clock.wait(asyncio.Event(), wait)

    async def _pick(self, queue: str, depth: int, now: int) -> list[Hint]:
        abilities, window = self._abilities.get(queue), self._windows.get(queue, 0)
        line, room = self._lines[queue], min(window - depth, self.settings.batch)
        if depth > window // 2 or not abilities:
            # A look reads all that is under way: not for a few more. Hints of the dispatcher
            # before this one are known by the depth alone.
            line.is_supplied = depth > window // 2
            return []
        line.is_supplied = False
        request = ClaimRequest(
            worker="",
            claim_id="",
            now=now,
            lead=min(AHEAD, int(self.settings.lead * 1000)),
            limit=len(line.sent) + room,
            queues=(queue,),
            abilities=abilities,
        )
        found = await self.store.claimable(request)
        return line.pick(found, depth, room, self.clock.monotonic())

    async def _send(self, hints: Sequence[Hint]) -> None:
        try:
            await self.broker.send(hints)
        except Exception:
            # How much has arrived, and what of before is left, is not known: begin anew.
            self._lines = {queue: _Line() for queue in self._lines}
            raise

    async def _look_at_workers(self) -> None:
        """What no live worker of its queue can run gets no hint: each would be sent in vain."""
        if self.clock.monotonic() - self._looked_at < LOOK:
            return
        workers = [one.worker for one in await self.store.list_workers() if not one.lost]
        self._abilities = {
            queue: frozenset(
                name for worker in workers if queue in worker.queues for name in worker.abilities
            )
            for queue in self.settings.queues
        }
        self._windows = {
            queue: PER_SEAT * sum(worker.capacity for worker in workers if queue in worker.queues)
            for queue in self.settings.queues
        }
        self._looked_at = self.clock.monotonic()

    async def _leads(self) -> bool:
        """Whether hints are ours to send. Two who send both cost messages, and nothing else."""
        if self.clock.monotonic() < self._leads_until:
            return True
        if self.clock.monotonic() < self._lease_again_at:
            return False
        now, began = self.clock.now(), self.clock.monotonic()
        self._lease_again_at = began + LEASE / 2
        held = await self.store.get_record(KIND, PLATFORM_PROJECT, self._key, now)
        if held is not None and not self._is_ours_to_take(held.document["process"]):
            return False
        record = Record(
            kind=KIND,
            project=PLATFORM_PROJECT,
            key=self._key,
            document={"process": self.process},
            expires_at=now + int(LEASE * 1000),
        )
        version = 0 if held is None else held.version
        if not await self.store.put_record(record, now, version):
            return False
        self._leads_until = self._lease_again_at = began + LEASE / 2
        return True

    def _is_ours_to_take(self, process: str) -> bool:
        return process == self.process or is_gone(process)

    async def _rest(self, asked_at: int, queues: tuple[str, ...]) -> float:
        rests = [self.settings.poll, self.queues.rest]
        if any(line.sent or line.is_supplied for line in self._lines.values()):
            rests.append(AGAIN / 4)
        if not all(self._abilities.values()):
            rests.append(LOOK)
        if queues:  # without those that are paused: nothing of them is sent
            wakeup = await self.store.next_wakeup(asked_at + AHEAD, queues)
            if wakeup.run is not None:
                rests.append((wakeup.run - AHEAD - self.clock.now()) / 1000)
        return max(min(rests), 0.0)
