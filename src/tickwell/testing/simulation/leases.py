"""Promises about attempts: never twice, never early, never without a valid lease."""

from __future__ import annotations

from collections import defaultdict

from tickwell.domain.execution import Claim, OutcomeKind
from tickwell.domain.policy import Delivery
from tickwell.domain.rate import is_rate
from tickwell.testing.simulation.clock import NodeClock
from tickwell.testing.simulation.loop import Process
from tickwell.testing.simulation.rows import Rows
from tickwell.testing.simulation.world import World


class Leases:
    """What processes start, and which of them are declared lost."""

    def __init__(self, world: World, rows: Rows) -> None:
        self.world = world
        self.rows = rows
        #: (execution, attempt): the process that started it, and how it ended there.
        self.starts: dict[tuple[str, int], str] = {}
        self.ends: dict[tuple[str, int], OutcomeKind] = {}
        self._started: dict[str, int] = {}
        self._owners: dict[str, Process] = {}
        self._latest: dict[Process, str] = {}
        self.losses = 0
        #: When attempts started, by the gate of their rate and its limit.
        self.rated: defaultdict[tuple[str | None, int], list[int]] = defaultdict(list)

    def started(self, process: Process, clock: NodeClock, claim: Claim) -> None:
        """A target is being called."""
        key = claim.id, claim.attempt
        self.world.note(process.name, f"start {claim.id[-8:]}#{claim.attempt}")
        if key in self.starts:
            raise self.world.fail(f"{key} was started twice")
        early = self._due(claim) - clock.earliest()
        if early > 0:
            raise self.world.fail(f"{key} started {early} ms early at {process.name}")
        if not self._holds(claim):
            raise self.world.fail(f"{key} started at {process.name} without a valid lease")
        self._once(claim)
        self.starts[key] = process.name
        gate, limit = claim.job.gate_of(claim.payload)
        if is_rate(gate):
            # By the clock that the record is made by, which may be a few milliseconds off.
            self.rated[gate, limit].append(clock.now())

    def _due(self, claim: Claim) -> int:
        """When it may start, unless that instant has come once and the clock was set back since.

        Its fire time never moves; its run time does, and may have been moved wrongly.
        """
        moved = claim.id in self._started
        due = claim.run_at if moved else max(claim.run_at, claim.fire_time)
        return due if due > self.world.highest_time() else 0

    def ended(self, claim: Claim, kind: OutcomeKind) -> None:
        """The target has answered."""
        self.ends[claim.id, claim.attempt] = kind

    def succeeded(self, claim: Claim) -> bool:
        """Whether this very attempt ran and went well."""
        return self.ends.get((claim.id, claim.attempt)) is OutcomeKind.SUCCEEDED

    def _holds(self, claim: Claim) -> bool:
        tables = self.world.store.tables
        if self.rows.stands(claim):
            liveness = tables.workers.get(claim.worker)
            return liveness is not None and not liveness.lost
        row = tables.rows.get(claim.id)
        ended = row.execution.attempts if row else []
        taken = [attempt for attempt in ended if attempt.number >= claim.attempt]
        # The store's clock was set ahead, and the deadline passed: the one end of a lease that
        # its holder cannot foresee.
        by_deadline = taken and taken[0].outcome is OutcomeKind.LOST
        return bool(by_deadline and taken[0].ended_at > claim.deadline)

    def _once(self, claim: Claim) -> None:
        seen = self.rows.seen.get(claim.id)
        count = self._started[claim.id] = self._started.get(claim.id, 0) + 1
        revived = seen is not None and seen.revived is not None
        if claim.job.delivery is Delivery.AT_MOST_ONCE and count > 1 and not revived:
            raise self.world.fail(f"{claim.id} may start once and started {count} times")

    def lost(self) -> set[str]:
        """The workers that are lost now."""
        workers = self.world.store.tables.workers
        return {id for id, liveness in workers.items() if liveness.lost}

    def beaten(self, process: Process, worker: str) -> None:
        """A beat has reached the store."""
        self._owners[worker] = process
        self._latest[process] = worker

    def declared(self, worker: str, lost_before: set[str]) -> None:
        """Only who was silent for a reason of its own is lost: an outage of the store is none."""
        if worker in lost_before or worker not in self.lost():
            return
        self.losses += 1
        owner, settings = self._owners[worker], self.world.scenario.settings
        silent = owner.gone or owner.asleep or self._latest[owner] != worker
        recently = self.world.loop.time() - settings.lease - 2 * settings.beat
        if not silent and owner.troubled_at < recently:
            raise self.world.fail(f"{owner.name} was declared lost though it is alive and well")
