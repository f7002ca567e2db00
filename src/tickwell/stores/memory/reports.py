"""The ends of attempts in memory."""

from __future__ import annotations

import heapq
from collections.abc import Sequence
from dataclasses import replace

from tickwell.domain.execution import Attempt, State
from tickwell.domain.job import Entry, JobState
from tickwell.domain.outcome import BEFORE_START, Report
from tickwell.domain.rate import permit_back_at
from tickwell.ports.records import Finished
from tickwell.stores.memory.flow import Flow
from tickwell.stores.memory.tables import Row, own


class MemoryReports:
    """The part of `ports.store.QueueStore` that ends attempts."""

    def __init__(self, flow: Flow) -> None:
        self.tables = flow.tables
        self.flow = flow

    async def finish(self, reports: Sequence[Report], now: int) -> Finished:
        finished = Finished()
        for report in reports:
            row = self.tables.rows.get(report.claim.id)
            if row is not None and _stands(row, report):
                self._apply(row, report.answered() if self._is_answered(report) else report, now)
                self._count_failures(report)
            elif row is None or not _was_applied(row, report):
                finished.refused.append(report)
                continue
            if report.claim.job.pause_after is not None:
                failures = self.tables.jobs[report.claim.job.id].cursor.failures
                finished.failures[report.claim.job.id] = failures
        return finished

    def _is_answered(self, report: Report) -> bool:
        """Whether a step that it awaits is final."""
        steps = self.tables.steps.get(report.claim.id, {})
        return any(name in steps and steps[name].is_final for name in report.awaits)

    def _apply(self, row: Row, report: Report, now: int) -> None:
        execution = row.execution
        if row.gate is not None:
            maybe = report.ended_at if report.may_have_started else None
            row.permit_from = permit_back_at(
                row.gate, report.claim.run_at, report.started_at, maybe
            )
        execution.attempts.append(
            Attempt(
                number=execution.attempt,
                outcome=report.outcome,
                worker=execution.worker,
                started_at=report.started_at,
                ended_at=report.ended_at,
                error=report.error,
                result=own(report.result),
            )
        )
        execution.charged, execution.lost = report.charged, report.lost
        execution.returned = report.returned
        execution.started_at, execution.error = report.started_at, report.error
        execution.result, execution.deadline = own(report.result), None
        if report.may_have_started:
            row.expires_at = None
        if report.state in BEFORE_START and row.called_off and report.started_at is None:
            self._call_off(row, report, now)
        elif report.state is not State.WAITING:
            self.flow.end(row, report.state, report.reason, report.ended_at)
        elif execution.cancel_requested:
            # The execution was cancelled or withdrawn: no attempt follows, whatever the outcome.
            self.flow.end(row, State.CANCELLED, execution.reason or "cancelled", report.ended_at)
        else:
            self._try_again(row, report.run_at, report.rank, now)

    def _call_off(self, row: Row, report: Report, now: int) -> None:
        """A change of the job took it back after it was claimed and before it started.

        It is withdrawn, unless the definition now in force wants the same fire time.
        """
        execution, entry = row.execution, self.tables.jobs[row.execution.job_id]
        execution.charged = report.claim.charged - 1
        fires = entry.job.trigger.after(execution.fire_time - 1) == execution.fire_time
        if fires and entry.cursor.state in {JobState.ACTIVE, JobState.FINISHED}:
            self._try_again(row, execution.run_at, row.rank, now)
        else:
            self.flow.withdraw(row, report.ended_at)

    def _try_again(self, row: Row, run_at: int, rank: int, now: int) -> None:
        execution, entry = row.execution, self.tables.jobs[row.execution.job_id]
        _drop_put_off(execution.attempts)
        execution.worker, execution.cancel_requested, execution.reason = None, False, None
        execution.run_at = row.look_at = run_at
        row.rank, row.called_off = rank, False
        if row.expires_at is not None:
            heapq.heappush(self.tables.expiring, (row.expires_at, execution.id))
        self.flow.leave(row, State.WAITING, now)
        if execution.job_version != entry.job.version:
            self.flow.restamp(row, entry.job)
        if entry.cursor.state is JobState.DELETED:
            self.flow.end(row, State.CANCELLED, "job deleted", now)
        elif entry.cursor.state is JobState.PAUSED:
            self.flow.hold(row, now)
        elif run_at <= now:
            self.flow.admit(row, now, 0)

    def _count_failures(self, report: Report) -> None:
        job = report.claim.job
        if job.pause_after is None or report.state not in {State.DEAD, State.SUCCEEDED}:
            return
        entry = self.tables.jobs[job.id]
        failures = entry.cursor.failures + 1 if report.state is State.DEAD else 0
        self.tables.put_entry(Entry(entry.job, replace(entry.cursor, failures=failures)))


def _stands(row: Row, report: Report) -> bool:
    execution = row.execution
    return execution.state is State.RUNNING and execution.attempt == report.claim.attempt


def _drop_put_off(attempts: list[Attempt]) -> None:
    """Of attempts in a row that were put off, the newest stays."""
    if len(attempts) > 1 and attempts[-1].is_untried and attempts[-2].is_untried:
        del attempts[-2]


def _was_applied(row: Row, report: Report) -> bool:
    """The reply to the same report was lost: its attempt is on record, ended at that instant."""
    return any(
        attempt.number == report.claim.attempt
        and attempt.ended_at == report.ended_at
        and attempt.outcome is report.outcome
        for attempt in row.execution.attempts
    )
