"""What people do with dead letters: a view of executions in state `dead`."""

from __future__ import annotations

import asyncio
import math
from collections.abc import Coroutine, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import partial
from itertools import islice
from typing import Any

from tickwell.domain.execution import Execution
from tickwell.domain.payload import KEEP, checked
from tickwell.domain.policy import REVIVAL_RATE
from tickwell.errors import InvalidInput, NotFound, TickwellError
from tickwell.ids import new_id
from tickwell.ports.records import Record
from tickwell.services.access.actor import Actor, Permission, needs
from tickwell.services.executions.dead_letters import DeadFilter, DeadLetters, Groups, Revive
from tickwell.services.operations.audit_detail import filter_document
from tickwell.services.operations.context import OperationContext
from tickwell.services.operations.in_flight_limit import InFlightLimit
from tickwell.services.operations.job_checks import refuse_sender

KIND = "revival"
#: Milliseconds that the record is kept after its last word.
_KEPT = 7 * 24 * 3600 * 1000
#: Milliseconds of silence, beside the rest between two of them, after which nobody works on it.
_SILENCE = 60 * 1000
_NAMED = 100


@dataclass(slots=True, kw_only=True)
class Revival:
    """How far it is."""

    id: str
    project: str
    by: str
    #: Executions a second at most.
    rate: float
    matched: int
    revived: int = 0
    #: Those that another payload was not given to.
    left_out: int = 0
    #: Why, by the names of their jobs, of which a hundred are named.
    refused: dict[str, str] = field(default_factory=dict)
    #: running, done, failed or stalled.
    state: str = "running"
    error: str | None = None
    started_at: int
    updated_at: int
    ended_at: int | None = None

    def leave_out(self, count: int, refused: Mapping[str, str]) -> None:
        """Count those that are not repeated, and note why."""
        self.left_out += count
        self.refused = dict(islice({**self.refused, **refused}.items(), _NAMED))

    def record(self) -> Record:
        """As it is kept."""
        return Record(
            kind=KIND,
            project=self.project,
            key=self.id,
            document=asdict(self),
            expires_at=self.updated_at + _KEPT,
        )

    @classmethod
    def of(cls, document: dict[str, Any], now: int) -> Revival:
        """As it was kept; stalled, if the process that worked on it is gone."""
        found = cls(**document)
        if found.state == "running" and now - found.updated_at > _SILENCE + 1000 / found.rate:
            found.state = "stalled"
        return found


FASTEST = 1000.0
#: Dead letters that one call deletes.
MOST_PURGED = 10_000
#: Of one project at once: at the slowest rate each lasts for 100 s a dead letter.
MOST_REVIVALS = 5


class DeadLetterOperations:
    """Groups them by what went wrong; revives or purges what matches."""

    def __init__(self, context: OperationContext) -> None:
        self.context = context
        self.dead = DeadLetters(context.store, context.clock, context.wake)
        self._in_flight = InFlightLimit(MOST_REVIVALS, "revivals", retry_after=60)
        self._tasks: set[asyncio.Task[None]] = set()

    @needs(Permission.READ)
    async def groups(self, actor: Actor, where: DeadFilter) -> Groups:
        """Those that match among the newest, the largest group first."""
        return await self.dead.groups(actor.project, await self._scoped(actor, where))

    @needs(Permission.OPERATE)
    async def revive(
        self, actor: Actor, where: DeadFilter, *, rate: float, payload: Any = KEEP
    ) -> Revival:
        """Begin to revive all that match; what is answered names the record of its progress.

        With another payload each is repeated as a new execution, and the dead one stays. Those of a
        job that cannot be run so, or that this actor may not give one, are left out.
        """
        if not 0.01 <= rate <= FASTEST:
            reason, hint = f"0.01 to {FASTEST:.0f} a second", f"Use {REVIVAL_RATE}"
            raise InvalidInput(reason, field="rate", hint=hint)
        # Before the rest: of many at once, none gets in behind the last place.
        self._in_flight.enter(actor.project)
        try:
            revival, work = await self._begin(actor, where, rate, payload)
        except BaseException:
            self._in_flight.leave(actor.project)
            raise
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        task.add_done_callback(lambda _: self._in_flight.leave(actor.project))
        return replace(revival)

    async def _begin(
        self, actor: Actor, where: DeadFilter, rate: float, payload: Any
    ) -> tuple[Revival, Coroutine[Any, Any, None]]:
        """Its record, and the work that is left to do."""
        scope = await self._scoped(actor, where)
        matched = await self.dead.count(actor.project, scope)
        edited = payload is not KEEP
        # Those of the first minute: the rate goes for the others.
        first = min(matched, math.ceil(rate * 60))
        await self.context.limiter.check_runs(actor, first, checked(payload) if edited else None)
        now = self.context.clock.now()
        revival = Revival(
            id=new_id(now, self.context.random),
            project=actor.project,
            by=actor.name,
            rate=rate,
            matched=matched,
            started_at=now,
            updated_at=now,
        )
        await self._keep(revival)
        await self.context.auditor.record(
            actor,
            "dead_letters.revive",
            f"revival/{revival.id}",
            None,
            {
                "matched": revival.matched,
                "edited": edited,
                "rate": rate,
                "filter": filter_document(scope),
            },
        )
        repeat = partial(self._repeat, actor, revival, payload) if edited else None
        return revival, self._work(revival, scope, repeat)

    @needs(Permission.EDIT)
    async def purge(self, actor: Actor, where: DeadFilter) -> tuple[int, bool]:
        """Delete those that match for good; how many, and whether to call again for the rest."""
        scope = await self._scoped(actor, where)
        matched = await self.dead.count(actor.project, scope, MOST_PURGED)
        after = {"matched": matched, "filter": filter_document(scope)}
        # First: what is broken off after some of them is on record too.
        await self.context.auditor.record(actor, "dead_letters.purge", "dead_letters", None, after)
        return await self.dead.purge_matching(actor.project, scope, MOST_PURGED)

    @needs(Permission.READ)
    async def revival(self, actor: Actor, id: str) -> Revival:
        """How far a revival is."""
        now = self.context.clock.now()
        found = await self.context.store.get_record(KIND, actor.project, id, now)
        if found is None:
            raise NotFound("revival", id)
        return Revival.of(found.document, now)

    async def close(self) -> None:
        """Stop what is under way; what was not revived stays dead."""
        tasks = list(self._tasks)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    async def _scoped(self, actor: Actor, where: DeadFilter) -> DeadFilter:
        """A job is named by its name or its id."""
        if where.job_id is None:
            return where
        found = await self.context.store.get_jobs(actor.project, [where.job_id])
        if not found:
            raise NotFound("job", where.job_id)
        return replace(where, job_id=found[0].job.id)

    async def _repeat(
        self, actor: Actor, revival: Revival, payload: Any, dead: Sequence[Execution]
    ) -> Sequence[str]:
        admit = None if Permission.ADMINISTER in actor.permissions else refuse_sender
        refused: dict[str, str] = {}
        repeated = await self.context.executions.repeat(
            actor.project, dead, payload, admit, refused
        )
        revival.leave_out(len(dead) - len(repeated), refused)
        return repeated

    async def _work(self, revival: Revival, where: DeadFilter, revive: Revive | None) -> None:
        async def rest(seconds: float) -> None:
            await self._keep(revival)
            await self.context.clock.wait(asyncio.Event(), seconds)

        def progress(count: int) -> None:
            revival.revived += count

        try:
            revival.revived = await self.dead.revive_matching(
                revival.project,
                where,
                revive=revive,
                rate=revival.rate,
                rest=rest,
                progress=progress,
            )
            revival.state = "done"
        except TickwellError as error:
            revival.state, revival.error = "failed", str(error)
        revival.ended_at = self.context.clock.now()
        await self._keep(revival)

    async def _keep(self, revival: Revival) -> None:
        revival.updated_at = self.context.clock.now()
        await self.context.store.put_record(revival.record(), revival.updated_at)
