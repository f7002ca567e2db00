"""The end of attempts on MongoDB.

Most reports change one document, or that and the gate of its job: those are bulk writes, fenced by
the attempt number. All others are left to the memory store's code.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from pymongo import UpdateOne

from tickwell.domain.execution import Kind, State
from tickwell.domain.outcome import Report
from tickwell.ports.records import Finished
from tickwell.stores.mongo.client import Part
from tickwell.stores.mongo.codec import OUTCOME_CODE, RUNNING, STATE_CODE, clean, to_json
from tickwell.stores.mongo.database import Document
from tickwell.stores.mongo.documents import is_gated, is_tied
from tickwell.stores.mongo.errors import translate_errors
from tickwell.stores.mongo.workspace.concurrency_gates import Moved
from tickwell.stores.mongo.workspace.overlap_gates import OverlapGates
from tickwell.stores.mongo.workspace.workspace import Workspace

_FINAL = frozenset({State.SUCCEEDED, State.DEAD})
#: Fields that the end of an attempt removes unless its report sets them.
_REMOVED = (
    *("deadline", "claim", "cancel", "called_off", "expires_at"),
    *("started_at", "reason", "error", "result"),
)
_COUNTS = ("lost", "returned")


class MongoReports(Part):
    """The part of `ports.store.QueueStore` that ends attempts."""

    def __init__(self, gates: OverlapGates) -> None:
        super().__init__(gates.client)
        self.transactions = gates.transactions
        self.gates = gates

    @translate_errors
    async def finish(self, reports: Sequence[Report], now: int) -> Finished:
        finished = Finished()
        # Of several reports on one execution the first counts.
        first = {each.claim.id: each for each in reversed(reports)}
        simple = {id: each for id, each in first.items() if _is_simple(each)}
        left = await self._end_in_bulk(list(simple.values()), now)
        others = [each for each in reports if simple.get(each.claim.id) is not each]
        await self._end_in_memory(left + others, now, finished)
        self.client.bell.ring()
        return finished

    async def _end_in_bulk(self, reports: list[Report], now: int) -> list[Report]:
        """End attempts by bulk writes; the reports that were not applied."""
        if not reports:
            return []
        executions = self.database.executions
        done = await executions.bulk_write([_ending(each) for each in reports], ordered=False)
        left: list[Report] = []
        if done.matched_count < len(reports):
            ids = [each.claim.id for each in reports]
            found = executions.find({"_id": {"$in": ids}}, {"attempts": {"$slice": -1}, "job": 1})
            last = {doc["_id"]: doc["attempts"][-1] async for doc in found if doc.get("attempts")}
            left = [each for each in reports if not _is_on_record(each, last)]
        missed = {id(each) for each in left}
        ended = [each.claim for each in reports if id(each) not in missed and _holds(each)]
        await self.gates.leave_gates({claim.job.id: claim.id for claim in ended}, now)
        return left

    async def _end_in_memory(self, reports: Sequence[Report], now: int, into: Finished) -> None:
        """Let the memory store's code end attempts; its answers are added to `into`."""
        answer = Finished()
        known = {each.claim.job.id: each.claim.job for each in reports}

        def mine(space: Workspace) -> list[Report]:
            return [each for each in reports if each.claim.job.id in space.asked]

        async def read(space: Workspace) -> None:
            awaiting = [each.claim.id for each in mine(space) if each.awaits]
            await self.transactions.read_rows(space, awaiting, with_steps=True)
            await self.transactions.read_rows(space, [each.claim.id for each in mine(space)])
            await self.transactions.read_gates(space, len(mine(space)) + 2)

        async def change(space: Workspace) -> None:
            nonlocal answer
            answer = await space.spec.finish(mine(space), now)

        def after(_: Workspace, missed: set[str], __: Moved) -> None:
            into.refused += [each for each in answer.refused if each.claim.job.id not in missed]
            into.failures |= {id: n for id, n in answer.failures.items() if id not in missed}

        if reports:
            await self.transactions.run(known, now, read, change, after, known=known)


def _is_simple(report: Report) -> bool:
    """Whether its end probably changes nothing but its job's gate; the bulk write checks it."""
    job = report.claim.job
    gate = job.rate if job.concurrency is None else job.concurrency.key
    return report.state in _FINAL and not is_tied(gate, report.claim.kind, job)


def _holds(report: Report) -> bool:
    """Whether the execution probably holds its job's gate."""
    return report.claim.kind is Kind.FIRE and is_gated(report.claim.job.overlap)


def _ending(report: Report) -> UpdateOne:
    claim = report.claim
    attempt: Document = {
        "number": claim.attempt,
        "outcome": OUTCOME_CODE[report.outcome],
        "ended_at": report.ended_at,
        "worker": claim.worker,
    }
    changed: dict[str, Any] = {
        "state": STATE_CODE[report.state],
        "ended_at": report.ended_at,
        "charged": report.charged,
    }
    if report.started_at is not None:
        changed["started_at"] = attempt["started_at"] = report.started_at
    if report.error is not None:
        changed["error"] = attempt["error"] = clean(report.error)
    if report.reason is not None:
        changed["reason"] = clean(report.reason)
    if report.result is not None:
        changed["result"] = to_json(report.result)
    for name in _COUNTS:
        if getattr(report, name):
            changed[name] = getattr(report, name)
    gone = {name: "" for name in _REMOVED if name not in changed}
    return UpdateOne(
        {
            "_id": claim.id,
            "state": RUNNING,
            "attempt": claim.attempt,
            "tied": None,
            "frozen": None,
            "holds_job": True if _holds(report) else None,
        },
        {"$set": changed, "$unset": gone, "$push": {"attempts": attempt}, "$inc": {"rev": 1}},
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
