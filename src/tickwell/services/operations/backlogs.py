"""Answering missed fires that are held: of a job, of the actor's project, and of all projects."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from tickwell.domain.backlog import BacklogAnswer
from tickwell.services.access.actor import Actor, Permission, needs
from tickwell.services.jobs.backlogs import BACKLOG_RATE, Backlogs, Decided, HeldJob
from tickwell.services.operations.context import OperationContext
from tickwell.services.projects.platform import PLATFORM
from tickwell.services.ttl_cache import TtlCache

#: Milliseconds for which pages show what was counted before.
_BRIEFLY = 5_000


@dataclass(frozen=True, slots=True, kw_only=True)
class HeldSummary:
    """How many jobs of a project hold how many missed fires."""

    jobs: int = 0
    runs: int = 0


class BacklogOperations:
    """An operator answers for the project, a platform admin for all projects."""

    def __init__(self, context: OperationContext) -> None:
        self.context = context
        self._backlogs = Backlogs(context.store, context.clock, context.wake)
        self._summaries: TtlCache[str, HeldSummary] = TtlCache(context.clock, _BRIEFLY)

    @needs(Permission.READ)
    async def summary(self, actor: Actor) -> HeldSummary:
        """How much the project holds: for pages, which ask often. One read where it is nothing."""
        return await self._summaries.get(actor.project, lambda: self._sum_up(actor.project))

    @needs(Permission.READ)
    async def list(self, actor: Actor) -> Sequence[HeldJob]:
        """The jobs of the project that hold missed fires."""
        return await self._backlogs.held(actor.project)

    @needs(Permission.PLATFORM)
    async def list_all(self, actor: Actor) -> Sequence[HeldJob]:
        """Those of all projects."""
        del actor
        return await self._backlogs.held()

    @needs(Permission.OPERATE)
    async def answer(
        self,
        actor: Actor,
        answer: BacklogAnswer,
        *,
        rate: float = BACKLOG_RATE,
        key: str | None = None,
    ) -> Decided:
        """Answer what the project holds, or one job of it."""
        project = actor.project
        if key is None:
            subject, held = f"project/{project}", await self._backlogs.held(project)
        else:
            one = await self._backlogs.of_job(project, key)
            subject, held = f"job/{one.job.id}", [one]
        done = await self._backlogs.answer(held, answer, rate)
        self._summaries.forget(project)
        after = _noted(answer, rate, done)
        await self.context.auditor.record(actor, "backlog.answer", subject, None, after)
        return done

    @needs(Permission.PLATFORM)
    async def answer_all(
        self, actor: Actor, answer: BacklogAnswer, *, rate: float = BACKLOG_RATE
    ) -> Decided:
        """Answer what all projects hold."""
        done = await self._backlogs.answer(await self._backlogs.held(), answer, rate)
        action, after = "platform.backlog_answer", _noted(answer, rate, done)
        await self.context.auditor.record(actor, action, "platform", None, after, project=PLATFORM)
        return done

    async def _sum_up(self, project: str) -> HeldSummary:
        if not await self._backlogs.noted(project):
            return HeldSummary()
        held = await self._backlogs.held(project)
        return HeldSummary(jobs=len(held), runs=sum(each.backlog.count for each in held))


def _noted(answer: BacklogAnswer, rate: float, done: Decided) -> dict[str, Any]:
    noted: dict[str, Any] = {"answer": answer.value, "jobs": done.jobs, "runs": done.runs}
    return noted | ({"rate": rate} if answer is BacklogAnswer.ALL else {})
