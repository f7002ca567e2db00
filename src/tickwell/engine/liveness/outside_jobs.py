"""The reaper's part in jobs that run outside: their owner lives, and what is cancelled ends."""

from __future__ import annotations

from collections.abc import Sequence

from tickwell.clock import Clock
from tickwell.domain.ability import EXTERNAL
from tickwell.domain.event import AttemptsFinished, Events
from tickwell.domain.execution import OutcomeKind
from tickwell.domain.external import CHECK_INS, is_outside, processes
from tickwell.domain.outcome import Outcome, decide
from tickwell.domain.worker import Liveness, Owned
from tickwell.ports.records import ClaimRequest
from tickwell.ports.store import QueueStore


class OutsideJobs:
    """Beats for the owner of their runs, which is no process and cannot do so itself."""

    def __init__(self, store: QueueStore, clock: Clock, events: Events) -> None:
        self.store = store
        self.clock = clock
        self.events = events

    async def keep(self, workers: Sequence[Liveness]) -> list[Liveness]:
        """Beat for it, if there are such jobs; answer the workers that are processes."""
        for each in workers:
            if is_outside(each.worker) and not each.lost:
                pulse = await self.store.beat(each.worker, self.clock.now())
                await self._cancel(each.worker.id, [one for one in pulse.owned if one.cancel])
        return processes(workers)

    async def _cancel(self, worker: str, asked: Sequence[Owned]) -> None:
        """End runs that a person cancelled: nothing here can stop what runs outside."""
        for owned in asked:
            now = self.clock.now()
            claims = await self.store.claim(
                ClaimRequest(
                    worker=worker,
                    claim_id=owned.claim_id,
                    now=now,
                    lead=0,
                    limit=1,
                    queues=(CHECK_INS,),
                    abilities=frozenset({EXTERNAL}),
                    ids=(owned.id,),
                    repeated=True,
                )
            )
            reports = [
                decide(
                    claim,
                    Outcome(
                        kind=OutcomeKind.CANCELLED, started_at=claim.started_at, error=owned.why
                    ),
                    now,
                )
                for claim in claims
                if claim.id == owned.id and claim.attempt == owned.attempt
            ]
            finished = await self.store.finish(reports, now)
            if reports and not finished.refused:
                self.events.emit(AttemptsFinished(reports=reports))
