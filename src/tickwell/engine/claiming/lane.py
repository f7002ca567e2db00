"""Lanes: how much a worker runs at once, of tasks or of threads, and how far it claims ahead."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

from tickwell.domain.fairness import NO_LIMIT
from tickwell.engine.claiming.ranked_queue import RankedQueue
from tickwell.engine.claiming.tenant_capacity import HOPED_DURATION, WEIGHT, TenantCapacity
from tickwell.ports.executor import Sort
from tickwell.ports.records import CLAIM_BYTES
from tickwell.settings import Settings

if TYPE_CHECKING:
    from tickwell.domain.execution import Claim

#: Batches that all workers together claim beyond their capacity, so that a burst does not wait for
#: claims: 10,000 at one instant with the default batch.
AHEAD = 20
#: Where several projects are met, claims are this part of a batch: to take over 500 at once keeps
#: the event loop for 5 ms, by which the few fires of one project would be late beside a crowd of
#: another's (`./run bench fairness`).
AMONG_SEVERAL = 4
#: Seconds without a claim after which a worker with a full hand looks for what has a better rank;
#: after looks in vain it doubles up to the longest.
LOOK_AFTER, LONGEST_LOOK = 0.5, 4.0
#: Projects whose shares are remembered although nothing of them is in hand.
REMEMBERED = 1000


class Lane:
    """Capacity of one sort. Claims beyond it are those that can start within the lead."""

    def __init__(self, name: str, capacity: int, batch: int, lead: float) -> None:
        self.name = name
        #: Attempts that may run at once.
        self.capacity = capacity
        #: The highest capacity, where it changes.
        self.most = capacity
        self.batch = batch
        self.lead = lead * 1000
        #: Attempts whose task exists: prepared, running, or abandoned and still taking capacity.
        self.busy = 0
        self.in_hand = 0
        #: Of the payloads in hand; and of one, as claims have them lately.
        self.bytes = 0
        self.mean_bytes = 0.0
        #: Reported as timed out or given back, and still taking capacity.
        self.abandoned = 0
        #: Due, waiting for capacity.
        self.ready = RankedQueue()
        self.mean = HOPED_DURATION
        #: No attempt has ended yet: the mean is nothing but hope.
        self.is_cold = True
        #: When something was last asked for, monotonic; seconds until a look past a full hand.
        self.asked_at = 0.0
        self.look_after = LOOK_AFTER
        #: Workers, this one among them, that claim from the same queues.
        self.company = 1
        #: When an attempt last started or ended, monotonic.
        self.moved_at = 0.0
        #: What each project has of it, and may have.
        self.shares: dict[str, TenantCapacity] = {}
        self.seats_of: Callable[[Lane, str], int] = lambda _lane, _project: NO_LIMIT

    def share_of(self, project: str) -> TenantCapacity:
        """The project's share; who is new has one as well."""
        share = self.shares.get(project)
        if share is None:
            share = self.shares[project] = TenantCapacity()
            share.seats = self.seats_of(self, project)
        return share

    def has_room_for(self, share: TenantCapacity) -> bool:
        """Whether one more of a project can be started within the lead, or is worth holding."""
        beyond = share.in_hand - share.seats
        return beyond < 0 or beyond < min(self.ahead(), share.startable(self.capacity, self.lead))

    def held(self, longer_than: float = 0.0) -> int:
        """How many wait for their project's seats, in shares with such means."""
        shares = self.shares.values()
        return sum(len(share.held) for share in shares if share.mean > longer_than)

    def forget_idle(self) -> None:
        """Let go of the shares of projects that have nothing here, where there are many."""
        if len(self.shares) > REMEMBERED:
            shares = self.shares.items()
            self.shares = {name: one for name, one in shares if one.in_hand or one.seated}

    def observe(self, seconds: float) -> None:
        """Learn from an attempt's duration how far ahead it is worth claiming."""
        if self.is_cold:
            self.mean, self.is_cold = seconds * 1000, False
        self.mean += (seconds * 1000 - self.mean) * WEIGHT

    def ahead(self) -> int:
        """How many more than the capacity can be started within the lead.

        No more than this worker's share, so that the others have theirs of a burst.
        """
        if self.lead <= 0:
            return 0
        moving = self.capacity - self.abandoned
        share = max(AHEAD // self.company, 1) * self.batch
        return min(int(moving * self.lead / max(self.mean, 0.01)), share)

    def room(self) -> int:
        """How many to claim now.

        At full capacity, nothing until a batch is worth it, or half of what may be in hand:
        a claim of many costs little more than a claim of one. Free capacity is filled at once: what
        waits for its project's share, where that takes long, keeps nobody else out.
        """
        capacity = self.capacity - self.abandoned
        most = capacity + self.ahead()
        in_hand = self.in_hand - self.held(longer_than=self.lead)
        step = self.batch if len(self.shares) < 2 else max(self.batch // AMONG_SEVERAL, 1)
        room = min(most - in_hand, step)
        if in_hand >= capacity and room < min(step, most - most // 2):
            return 0
        if self.is_cold and (self.busy or in_hand < capacity):
            # How long they take is not known yet: a hand full of what is due would keep out what
            # has a better rank. What is held for an instant before anything runs may be a burst.
            room = min(room, capacity - in_hand)
        if self.bytes >= CLAIM_BYTES:  # large payloads are not held ahead
            room = min(room, capacity - in_hand)
        return max(min(room, self._worth_asking_for()), 0)

    def look_past(self, now: float) -> int:
        """How many to claim although there is no room: something better may have come meanwhile.

        Durations may turn out longer than they were: then thousands are in hand that would start
        before it. As many of the worst are given back.
        """
        if not self.ready or now - self.asked_at < self.look_after:
            return 0
        return max(self.capacity // 10, 1)

    def looked_past(self, *, in_vain: bool) -> None:
        """What was claimed in vain is written twice: the next look is later."""
        self.look_after = min(self.look_after * 2, LONGEST_LOOK) if in_vain else LOOK_AFTER

    def overfull(self) -> int:
        """How many of those that wait for capacity are more than can start within the lead."""
        return min(self.in_hand - self.held() - self.capacity - self.ahead(), len(self.ready))

    def _worth_asking_for(self) -> int:
        """A store that has to stop at large payloads has looked at the others for nothing."""
        return int(2 * CLAIM_BYTES / max(self.mean_bytes, 1)) + 1

    def observe_sizes(self, claims: Sequence[Claim]) -> None:
        """Learn from payloads how many of the next are worth asking for."""
        if claims:
            mean = sum(claim.size for claim in claims) / len(claims)
            self.mean_bytes += (mean - self.mean_bytes) / 2

    def excess(self) -> int:
        """How many of those that wait for capacity others would start sooner, if there are others.

        Durations turned out longer than was hoped: twice what can be started in time is in hand.
        """
        most = self.capacity - self.abandoned + self.ahead()
        in_hand = self.in_hand - self.held()
        if self.company == 1 or in_hand <= 2 * most:
            return 0
        return min(in_hand - most, len(self.ready))

    def full_for(self, now: float) -> float:
        """Seconds at full capacity without an attempt ending; 0: there is free capacity."""
        return now - self.moved_at if self.busy >= self.capacity else 0.0


def make_lanes(
    settings: Settings, abilities: Mapping[Sort, frozenset[str]]
) -> dict[Lane, frozenset[str]]:
    """A lane of each sort, with what it can do."""
    capacity = {Sort.TASK: settings.capacity, Sort.THREAD: settings.threads}
    return {
        Lane(sort, capacity[sort], settings.batch, settings.lead): names
        for sort, names in abilities.items()
    }
