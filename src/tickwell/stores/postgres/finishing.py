"""Finishing on PostgreSQL: what holds no permit ends, and is counted, in one statement."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import Any

from tickwell.domain.execution import OutcomeKind, State
from tickwell.domain.outcome import Report
from tickwell.stores.postgres.database import Database
from tickwell.stores.sql.flow.finishing import SqlReports
from tickwell.stores.sql.parts import Database as SqlDatabase
from tickwell.stores.sql.rows.codec import OUTCOME_CODE, STATE_CODE, clean, to_json
from tickwell.stores.sql.session import Session


class PostgresReports(SqlReports[Database]):
    """Ends attempts."""

    async def finish_quickly(
        self, database: SqlDatabase, reports: Sequence[Report]
    ) -> list[Report]:
        return await database.write_one(lambda session: _finish_quickly(session, reports))


async def _finish_quickly(session: Session, reports: Sequence[Report]) -> list[Report]:
    """End what holds no permit; those that stood.

    A statement for each way to end, of which a batch has one or two.
    """
    # Of several reports on one execution, the first.
    first = {report.claim.id: report for report in reversed(reports)}
    jobs = {report.claim.job.id: report.claim.job.version for report in reports}
    alike: defaultdict[tuple[Any, ...], list[Report]] = defaultdict(list)
    for _, report in sorted(first.items()):
        # Of two definitions of a job one is not in force: its ends come later, one by one.
        if jobs[report.claim.job.id] == report.claim.job.version:
            alike[_way(report)].append(report)
    known = _array(jobs), _array(map(str, jobs.values()))
    ended: list[Report] = []
    for way, some in alike.items():
        ids = _array([report.claim.id for report in some])
        attempts = [report.claim.attempt for report in some]
        arguments = ids, attempts, *known, *_own(some), *_codes(*way)
        count, indexes = await session.row("finish_quickly", *arguments)
        ended += some if count == len(some) else [some[int(at) - 1] for at in indexes or ()]
    return ended


def _way(report: Report) -> tuple[Any, ...]:
    """What executions that ended alike have in common."""
    counts = report.charged, report.lost, report.returned
    return report.state, report.outcome, report.reason, *counts


def _codes(state: State, outcome: OutcomeKind, reason: str | None, *counts: int) -> tuple[Any, ...]:
    """As columns hold it."""
    return STATE_CODE[state], OUTCOME_CODE[outcome], clean(reason), *counts


def _own(reports: Sequence[Report]) -> tuple[Any, ...]:
    """What each has of its own: started_at, ended_at, error, result."""
    return (
        [one.started_at for one in reports],
        [one.ended_at for one in reports],
        _texts(one.error and clean(one.error) for one in reports),
        _texts(to_json(one.result) for one in reports),
    )


def _array(ids: Iterable[str]) -> str:
    """As the server reads it; the driver would look at each element, at three times the cost."""
    return "{" + ",".join(ids) + "}"


def _texts(values: Iterable[str | None]) -> list[str | None]:
    """Nothing at all where there is no text: what an array does not have is null."""
    texts = list(values)
    return texts if any(text is not None for text in texts) else []
