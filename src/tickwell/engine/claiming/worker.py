"""The worker: claims what is due within the lead, and starts it on the dot."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace

from tickwell.clock import Clock
from tickwell.domain.ability import is_able
from tickwell.domain.execution import Claim, OutcomeKind
from tickwell.domain.worker import Pulse
from tickwell.engine.claiming.lane import Lane
from tickwell.engine.claiming.open_queues import OpenQueues
from tickwell.engine.claiming.peer_count import PeerCount
from tickwell.engine.claiming.refusals import Refusals
from tickwell.engine.claiming.tenant_limits import TenantLimits
from tickwell.engine.planning.outage_recovery import OutageRecovery
from tickwell.engine.running.attempt import Attempt
from tickwell.engine.running.give_back import give_back_worst
from tickwell.engine.running.runner import Runner
from tickwell.errors import TickwellError
from tickwell.ports.executor import Sort
from tickwell.ports.records import CLAIM_BYTES, ClaimRequest
from tickwell.ports.store import Store
from tickwell.settings import Settings

#: Seconds without free capacity after which it is reported.
FULL = 60.0


class Worker:
    """Fills the free capacity of its lanes; `Runner` carries the attempts out."""

    name = "worker"

    def __init__(
        self,
        store: Store,
        clock: Clock,
        settings: Settings,
        runner: Runner,
        *,
        lanes: Mapping[Lane, frozenset[str]],
        new_id: Callable[[], str],
    ) -> None:
        self.recall = OutageRecovery(store, clock, settings, runner, lambda: self.id)
        self.store = store
        self.clock = clock
        self.settings = settings
        self.runner = runner
        self.lanes = lanes
        self.new_id = new_id
        self.queues = OpenQueues(store, clock, settings.queues)
        self.refusals = Refusals(store, clock, runner.refusal)
        runner.on_refusal = self.refusals.add
        self.shares = TenantLimits(store, clock, settings, lambda: self.id)
        self.company = PeerCount(store, clock, settings.queues, lanes.keys())
        self.id = new_id()
        self.draining = False
        #: Called when there is nothing in hand and nothing to claim, once per rest.
        self.on_idle: Callable[[], None] = lambda: None
        #: Called with the id of each job that this process cannot read, and why.
        self.on_unreadable: Callable[[str, str], None] = lambda _job, _why: None
        self._rests = False
        self._unanswered: dict[Lane, ClaimRequest] = {}
        self._unknown: set[tuple[str, int]] = set()
        self._lost_claims: set[str] = set()

    def learn(self, abilities: Mapping[Sort, frozenset[str]]) -> None:
        """Claim what the executor can do by now."""
        self.lanes = {lane: abilities[Sort(lane.name)] for lane in self.lanes}

    async def step(self) -> float:
        """Claim for each lane with room; say how long to rest."""
        if self.draining:
            await self._give_back_lost_claims()
        if self.draining or not self.runner.is_trusted():
            return self.settings.poll  # a beat that succeeds wakes this loop
        return await self.recall.attend(self.name, self._step)

    async def _step(self) -> float:
        await self.shares.look(self.lanes)
        await self.company.look()
        await self._find_lost_claims()
        self.runner.give_back_stuck(self.lanes)
        asked = filled = False
        queues = await self.queues.look()
        asked_at = self.clock.now()
        for lane, abilities in self.lanes.items():
            room, looks = self._room(lane)
            if room and abilities and queues and not self.is_draining():
                asked, repeats = True, lane in self._unanswered
                claims = await self._claim(lane, abilities, room)
                if self.is_draining():  # the reply took longer than the engine waited for it
                    self.runner.refuse(claims)
                    continue
                self.runner.take(claims, lane)
                if looks:
                    self._give_back_for(claims, lane)
                self._rests = self._rests and not claims
                # The answer to an old request says nothing of what has come due since.
                filled = filled or repeats or (len(claims) == room and not looks) or is_cut(claims)
        self._notice_idle()
        return 0.0 if filled else await self._rest(asked_at if asked else None)

    def _room(self, lane: Lane) -> tuple[int, bool]:
        """How many to claim; and whether that is a look for something better than is in hand."""
        if self.runner.is_backed_up():
            return 0, False
        now = self.clock.monotonic()
        room, looks = lane.room(), False
        if not room:
            room = lane.look_past(now)
            looks = room > 0
        if room:
            lane.asked_at = now
        return room, looks

    def _give_back_for(self, claims: Sequence[Claim], lane: Lane) -> None:
        """Give back as many of the worst as were claimed in a look; none was better: in vain."""
        returned = set(give_back_worst(self.runner, lane, len(claims)))
        lane.looked_past(in_vain=returned.issuperset(claim.id for claim in claims))

    def _notice_idle(self) -> None:
        if self.runner.in_hand or self.runner.reporter.backlog:
            self._rests = False
        elif not self._rests:
            self._rests = True
            self.on_idle()

    def is_draining(self) -> bool:
        """Whether nothing more is to be claimed; asked anew after each reply."""
        return self.draining

    @property
    def capacity(self) -> int:
        """How many attempts it runs at once."""
        return sum(lane.capacity for lane in self.lanes)

    async def _claim(
        self,
        lane: Lane,
        abilities: frozenset[str],
        limit: int,
        ids: tuple[str, ...] | None = None,
    ) -> list[Claim]:
        now = self.clock.now()
        asked_before = self._unanswered.get(lane)
        if asked_before is not None:
            request = replace(asked_before, now=now, repeated=True)
        else:
            request = ClaimRequest(
                worker=self.id,
                claim_id=self.new_id(),
                now=now,
                lead=int(self.settings.lead * 1000),
                limit=limit,
                queues=self.queues.open,
                abilities=abilities,
                ids=ids,
                left_out=self.refusals.left_out,
            )
        self._unanswered[lane] = request  # until the store has answered
        claims = await self._ask(request)
        if request.worker != self.id:
            return []  # declared lost meanwhile: they are recovered elsewhere
        del self._unanswered[lane]
        return claims

    async def _ask(self, request: ClaimRequest) -> list[Claim]:
        """Claim; of what was asked for before, without that which is in hand already.

        Or was when the request was sent: an end that is written meanwhile, on another connection,
        may not be seen by the answer.
        """
        known = self.runner.known() if request.repeated else set()
        claims = await self.store.claim(request)
        await self.shares.meet(claims, self.lanes, self._lane_of)
        if not request.repeated:
            return claims
        known |= self.runner.known()
        return [claim for claim in claims if (claim.id, claim.attempt) not in known]

    async def _rest(self, asked_at: int | None) -> float:
        """None: there was no room, so whatever comes next has to wait for free capacity."""
        rests = [self.settings.poll, self.queues.rest, self.shares.rest(self.lanes)]
        if asked_at is not None:
            rests.append(await self._until_next(asked_at))
        if any(lane.ready or lane.held() for lane in self.lanes):
            rests.append(self.settings.lead)
        return max(min(rests), 0.0)

    async def _until_next(self, asked_at: int) -> float:
        lead = int(self.settings.lead * 1000)
        # What was due within the lead when we asked was offered to us: look for what comes after.
        wakeup = await self.store.next_wakeup(asked_at + lead, self.settings.queues)
        for one in wakeup.unreadable:
            self.on_unreadable(one.job, one.why)
        if wakeup.run is None:
            return float("inf")
        # A part of the lead is slack, so that claims gather into batches. Not half: 10,000 at an
        # instant take 0.25 s to claim.
        return (wakeup.run - lead * 3 // 4 - self.clock.now()) / 1000

    def full(self) -> list[str]:
        """Lanes at full capacity in which no attempt has ended for long, in words."""
        now = self.clock.monotonic()
        gone = {lane: lane.full_for(now) for lane in self.lanes}
        return [
            f"all capacity for {lane.name}s is in use ({lane.capacity:,}); "
            f"no attempt has ended for {seconds:.0f} s"
            for lane, seconds in gone.items()
            if seconds > FULL
        ]

    def on_pulse(self, pulse: Pulse, sent: float) -> None:
        """Heed a beat's answer: trust, cancel requests, loss, and claims that never arrived."""
        if pulse.worker != self.id:
            return  # that incarnation is over
        if pulse.lost:
            self._reincarnate()
            return
        self.runner.trust_until(sent + self.settings.lease * 0.9)
        known, unknown = self.runner.known(), set()
        for owned in pulse.owned:
            if owned.cancel:
                self.runner.cancel(owned.id, owned.attempt, owned.why)
            if (owned.id, owned.attempt) not in known:
                unknown.add((owned.id, owned.attempt))
                # Unknown twice in a row: not a claim whose reply is on its way.
                if (owned.id, owned.attempt) in self._unknown:
                    self._lost_claims.add(owned.claim_id)
        self._unknown = unknown

    def new_worker_id(self) -> str:
        """What no worker was called before."""
        return self.new_id()

    def _reincarnate(self) -> None:
        """Declared lost: what was in hand runs elsewhere. Begin again under another id."""
        self.runner.disown()
        self.shares.disown(self.lanes)
        self.id = self.new_worker_id()
        self._unanswered.clear()
        self._unknown.clear()
        self._lost_claims.clear()

    async def _find_lost_claims(self) -> None:
        """Ask again for claims whose reply was lost, and run what they hold."""
        for claim_id in sorted(self._lost_claims):
            for claim in await self._ask_again(claim_id):
                self.runner.take([claim], self._lane_of(claim))

    async def _give_back_lost_claims(self) -> None:
        """Release what claims hold whose reply was lost before a shutdown: nothing starts now.

        Otherwise it would wait for the end of this process, and a warm shutdown may take long.
        """
        unanswered = {request.claim_id for request in self._unanswered.values()}
        for claim_id in sorted(unanswered | self._lost_claims):
            self.runner.refuse(await self._ask_again(claim_id))

    async def _ask_again(self, claim_id: str) -> list[Claim]:
        """What an earlier claim of this worker holds and is not in hand; claims nothing new."""
        request = ClaimRequest(
            worker=self.id,
            claim_id=claim_id,
            now=self.clock.now(),
            lead=0,
            limit=0,
            queues=(),
            abilities=frozenset(),
            repeated=True,
        )
        found = await self._ask(request)
        self._forget_request(claim_id)
        return [claim for claim in found if claim.worker == self.id]

    def _forget_request(self, claim_id: str) -> None:
        """It is answered: asked again, it would hand the same attempts over a second time."""
        self._lost_claims.discard(claim_id)
        for lane, request in list(self._unanswered.items()):
            if request.claim_id == claim_id:
                del self._unanswered[lane]

    def _lane_of(self, claim: Claim) -> Lane:
        ability, first = claim.job.ability, next(iter(self.lanes))
        return next((lane for lane, can in self.lanes.items() if is_able(ability, can)), first)

    def release_waiting(self) -> None:
        """Give back everything that has not started; claim nothing more."""
        self.draining = True
        for attempt in self.runner.not_started():
            self.runner.give_back(attempt)

    async def drain(self, seconds: float) -> int:
        """Let running attempts end; release those that do not in time. How many were released."""
        self.release_waiting()
        with suppress(TickwellError):  # else they are free once this worker is gone
            await self.shares.leave(self.lanes)
        running = self.runner.started()
        if running:
            await self._wait_for(running, seconds)
        late = self.runner.started()
        for attempt in late:
            attempt.ask_to_stop(OutcomeKind.RELEASED)
        if late:
            await self._wait_for(late, 1.0)
        for attempt in self.runner.started():
            # Its task swallows the cancellation, or its thread cannot be stopped.
            self.runner.finish_early(attempt, attempt.interrupted())
        return len(late)

    async def _wait_for(self, attempts: list[Attempt], seconds: float) -> None:
        tasks = [attempt.task for attempt in attempts if attempt.task is not None]
        if tasks:
            await asyncio.wait(tasks, timeout=seconds)


def is_cut(claims: Sequence[Claim]) -> bool:
    """Whether the store has stopped at the bytes of their payloads: there may be more."""
    return sum(claim.size for claim in claims) >= CLAIM_BYTES
