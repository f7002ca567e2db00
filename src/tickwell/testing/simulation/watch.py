"""Every call to the store passes here, and every promise is looked at after every call."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tickwell.domain.execution import Claim, Kind, OutcomeKind
from tickwell.domain.outcome import Report
from tickwell.testing.simulation.cursors import Cursors
from tickwell.testing.simulation.leases import Leases
from tickwell.testing.simulation.loop import Process
from tickwell.testing.simulation.rows import Rows
from tickwell.testing.simulation.world import World

_READS = frozenset(
    {
        "claimable",
        "get_execution",
        "get_jobs",
        "list_executions",
        "list_jobs",
        "list_skips",
        "list_workers",
        "next_wakeup",
        "orphans",
        "ping",
        "stats",
    }
)
#: Writes that touch no execution and no job.
_APART = frozenset({"beat", "declare_lost"})
#: Writes by which an execution that has ended may live again.
_REVIVES = frozenset({"add_executions", "change_jobs", "revive"})
#: Where in the arguments the caller's time stands.
_NOW = {"fire_due": 0, "promote": 0, "finish": 1, "settle": 4, "change_jobs": 3}
_Facts = tuple[object, ...]


class Watch:
    """The invariants, asserted after every store call."""

    def __init__(self, world: World) -> None:
        self.world = world
        self.rows = Rows(world)
        self.leases = Leases(world, self.rows)
        self.cursors = Cursors(world, self.rows)

    async def apply(
        self, process: Process, method: str, args: tuple[Any, ...], options: dict[str, Any]
    ) -> Any:
        """Carry a call out, and look at what it did."""
        call = getattr(self.world.store, method)
        if method in _READS:
            self.world.note(process.name, method)
            return await call(*args, **options)
        stale = self._stale(args[0]) if method == "finish" else {}
        lost_before = self.leases.lost()
        result = await call(*args, **options)
        self.world.note(process.name, f"{method} {_brief(method, result)}")
        if method == "claim":
            self._not_paused(result)
        elif method == "finish":
            self._refusals(args[0], stale)
        elif method == "beat":
            self.leases.beaten(process, args[0].id)
        elif method == "declare_lost":
            self.leases.declared(args[0], lost_before)
        if method in _APART:
            return result
        now = args[_NOW[method]] if method in _NOW else self.world.store_time()
        self.rows.look(method, now, fully=_may_revive(method, result))
        self.cursors.look(method, now)
        return result

    def _not_paused(self, claims: Sequence[Claim]) -> None:
        """After the pause of a project was confirmed, no fire of its jobs is handed over."""
        world = self.world
        for claim in claims:
            is_paused = claim.kind is Kind.FIRE and claim.job.id in world.paused_jobs
            if is_paused and (claim.id, claim.attempt) not in world.running_then:
                raise world.fail(f"{claim.id} of {claim.job.id} was claimed in a paused project")

    def _stale(self, reports: Sequence[Report]) -> dict[int, _Facts]:
        """The facts of executions whose report comes too late: they are to stay as they are."""
        stale = {}
        valid = {report.claim.id for report in reports if self.rows.stands(report.claim)}
        for number, report in enumerate(reports):
            # The report of a later attempt may come in the same batch, and that one counts.
            if report.claim.id not in valid:
                stale[number] = self._facts(report.claim)
        return stale

    def _facts(self, claim: Claim) -> _Facts:
        row = self.world.store.tables.rows.get(claim.id)
        if row is None:
            return ()
        one = row.execution
        return (one.attempt, one.charged, one.lost, one.returned, one.result, len(one.attempts))

    def _refusals(self, reports: Sequence[Report], stale: dict[int, _Facts]) -> None:
        for number, report in enumerate(reports):
            claim = report.claim
            if number in stale:
                if self._facts(claim) != stale[number]:
                    raise self.world.fail(f"a stale report changed {claim.id} #{claim.attempt}")
            elif self._is_made_up(report):
                raise self.world.fail(f"{claim.id} #{claim.attempt} succeeded without having run")

    def _is_made_up(self, report: Report) -> bool:
        applied = self.rows.is_ended(report.claim)
        wrong = report.outcome is OutcomeKind.SUCCEEDED and not self.leases.succeeded(report.claim)
        return applied and wrong


def _may_revive(method: str, result: Any) -> bool:
    return method in _REVIVES or (method == "fire_due" and result.executions > 0)


def _brief(method: str, result: Any) -> str:
    if method == "claim":
        return " ".join(f"{claim.id[-8:]}#{claim.attempt}" for claim in result)
    if method == "finish":
        return " ".join(f"refused {report.claim.id[-8:]}" for report in result.refused)
    if method == "fire_due":
        return f"{result.executions} {result.skipped}"
    return ""
