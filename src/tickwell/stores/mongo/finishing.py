"""The ends of attempts on MongoDB.

Most ends concern one document, or that and the gate of its job: those are bulk writes, fenced by
the attempt number. All others are left to the specification.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from pymongo import UpdateOne

from tickwell.domain.execution import Kind, State
from tickwell.domain.outcome import Report
from tickwell.ports.records import Finished
from tickwell.stores.mongo.codec import OUTCOME_CODE, RUNNING, STATE_CODE, clean, to_json
from tickwell.stores.mongo.errors import edge
from tickwell.stores.mongo.passing import MongoPassing
from tickwell.stores.mongo.rows import Document, is_gated, is_tied
from tickwell.stores.mongo.workspace import Workspace

_FINAL = frozenset({State.SUCCEEDED, State.DEAD})
#: What an attempt leaves behind unless its report says otherwise.
_GONE = (
    *("deadline", "claim", "cancel", "called_off", "expires_at"),
    *("started_at", "reason", "error", "result"),
)
_COUNTS = ("lost", "returned")


class MongoFinishing(MongoPassing):
    """The part of `ports.store.QueueStore` that ends attempts."""

    @edge
    async def finish(self, reports: Sequence[Report], now: int) -> Finished:
        finished = Finished()
        # Of several on one execution the first counts, as its job is known there.
        first = {each.claim.id: each for each in reversed(reports)}
        simple = {id: each for id, each in first.items() if _is_simple(each)}
        left = await self._end_simply(list(simple.values()), now)
        others = [each for each in reports if simple.get(each.claim.id) is not each]
        await self._end_by_rules(left + others, now, finished)
        self.bell.ring()
        return finished

    async def _end_simply(self, reports: list[Report], now: int) -> list[Report]:
        """End what concerns nobody but perhaps the job's gate; the reports that do not stand."""
        if not reports:
            return []
        executions = self._database.executions
        done = await executions.bulk_write([_ending(each) for each in reports], ordered=False)
        left: list[Report] = []
        if done.matched_count < len(reports):
            ids = [each.claim.id for each in reports]
            found = executions.find({"_id": {"$in": ids}}, {"attempts": {"$slice": -1}, "job": 1})
            last = {doc["_id"]: doc["attempts"][-1] async for doc in found if doc.get("attempts")}
            left = [each for each in reports if not _is_on_record(each, last)]
        missed = {id(each) for each in left}
        ended = [each.claim for each in reports if id(each) not in missed and _holds(each)]
        await self.leave_gates({claim.job.id: claim.id for claim in ended}, now)
        return left

    async def _end_by_rules(self, reports: Sequence[Report], now: int, into: Finished) -> None:
        """Let the specification end attempts; what it answers goes into `into`."""
        answer = Finished()
        known = {each.claim.job.id: each.claim.job for each in reports}

        def mine(space: Workspace) -> list[Report]:
            return [each for each in reports if each.claim.job.id in space.asked]

        async def fill(space: Workspace) -> None:
            await self.read_rows(space, [each.claim.id for each in mine(space)])
            await self.read_gates(space, len(mine(space)) + 2)

        async def do(space: Workspace) -> None:
            nonlocal answer
            answer = await space.spec.finish(mine(space), now)

        def after(_: Workspace, missed: set[str], __: set[str]) -> None:
            into.refused += [each for each in answer.refused if each.claim.job.id not in missed]
            into.failures |= {id: n for id, n in answer.failures.items() if id not in missed}

        if reports:
            await self.work(known, now, fill, do, after, known=known)


def _is_simple(report: Report) -> bool:
    """Whether its end is likely to concern nobody but its job's gate; its document has the say."""
    job = report.claim.job
    gate = None if job.concurrency is None else job.concurrency.key
    return report.state in _FINAL and not is_tied(gate, report.claim.kind, job)


def _holds(report: Report) -> bool:
    """Whether it is likely to hold its job's gate."""
    return report.claim.kind is Kind.FIRE and is_gated(report.claim.job.overlap)


def _ending(report: Report) -> UpdateOne:
    claim = report.claim
    attempt: Document = {
        "number": claim.attempt,
        "outcome": OUTCOME_CODE[report.outcome],
        "ended_at": report.ended_at,
        "worker": claim.worker,
    }
    told: dict[str, Any] = {
        "state": STATE_CODE[report.state],
        "ended_at": report.ended_at,
        "charged": report.charged,
    }
    if report.started_at is not None:
        told["started_at"] = attempt["started_at"] = report.started_at
    if report.error is not None:
        told["error"] = attempt["error"] = clean(report.error)
    if report.reason is not None:
        told["reason"] = clean(report.reason)
    if report.result is not None:
        told["result"] = to_json(report.result)
    for name in _COUNTS:
        if getattr(report, name):
            told[name] = getattr(report, name)
    gone = {name: "" for name in _GONE if name not in told}
    return UpdateOne(
        {
            "_id": claim.id,
            "state": RUNNING,
            "attempt": claim.attempt,
            "tied": None,
            "frozen": None,
            "holds_job": True if _holds(report) else None,
        },
        {"$set": told, "$unset": gone, "$push": {"attempts": attempt}, "$inc": {"rev": 1}},
    )


def _is_on_record(report: Report, last: dict[str, Document]) -> bool:
    """Whether this report was applied, by this call or by one whose reply was lost."""
    attempt = last.get(report.claim.id)
    return (
        attempt is not None
        and attempt["number"] == report.claim.attempt
        and attempt["ended_at"] == report.ended_at
        and attempt["outcome"] == OUTCOME_CODE[report.outcome]
    )
