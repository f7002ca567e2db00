"""Counts what the engine tells, and how long calls to the store take.

The report of a success costs less than a microsecond: what all attempts of a job have in common is
looked up by its id, and written once for a batch.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Sequence
from http import HTTPStatus
from typing import Any

from tickwell.domain import event as events
from tickwell.domain.celery import Celery
from tickwell.domain.execution import OutcomeKind, Reason, State
from tickwell.domain.external import External
from tickwell.domain.http import Http
from tickwell.domain.job import Job
from tickwell.domain.outcome import Report
from tickwell.domain.target import Call
from tickwell.errors import StoreError
from tickwell.observe.metrics import definitions as metrics
from tickwell.observe.metrics.definitions import Metric
from tickwell.observe.metrics.series import Exemplar, Series
from tickwell.observe.store_calls import StoreCall
from tickwell.ports.notifier import FAILURES

#: Projects, and queues of all projects, that have series of their own; the rest is "other".
MOST_PROJECTS, MOST_QUEUES = 200, 500
#: Jobs, and projects with their queues or responses, that are remembered with where they count.
MOST_CELLS = 10_000
OTHER = "other"
#: No project has this name, so no API key sees the sum of the rest.
OTHER_PROJECT = "\0"
#: Where the id of a trace is found, if the attempt was traced.
TraceOf = Callable[[Report], str | None]

_TARGETS = {Http: "http", Call: "call", Celery: "celery", External: "external"}
_CODES = frozenset(HTTPStatus)
_FAILED = frozenset({OutcomeKind.FAILED, OutcomeKind.TIMED_OUT, OutcomeKind.LOST})
_ENDED = frozenset({State.SUCCEEDED, State.DEAD, State.CANCELLED})
_DURATIONS = [round(bound * 1000) for bound in metrics.DURATION.buckets]
_LATENESS = [round(bound * 1000) for bound in metrics.LATENESS.buckets]
#: The buckets of the first milliseconds: to look one up takes a third of the time of a search.
_TABLE = 4096
_TAKEN = bytes(bisect_left(_DURATIONS, millis) for millis in range(_TABLE))
_LATE = bytes(bisect_left(_LATENESS, millis) for millis in range(_TABLE))
_LAST_OF_DURATION, _LAST_OF_LATENESS = metrics.DURATION.width - 1, metrics.LATENESS.width - 1


class _Cell:
    """Reports of one batch that are counted in the same series."""

    __slots__ = ("count", "durations", "indexes", "is_http", "job", "late", "lateness", "taken")

    def __init__(self, job: Job, indexes: tuple[int, ...], durations: int, lateness: int) -> None:
        self.job = job
        self.is_http = type(job.target) is Http
        #: Where the number of reports is added.
        self.indexes = indexes
        #: Where the buckets begin.
        self.durations = durations
        self.lateness = lateness
        self.count = self.taken = self.late = 0

    def write(self, values: Any) -> None:
        """Add what was counted since the last time."""
        for index in self.indexes:
            values[index] += self.count
        values[self.durations + _LAST_OF_DURATION] += self.taken / 1000
        values[self.lateness + _LAST_OF_LATENESS] += self.late / 1000
        self.count = self.taken = self.late = 0


class Counting:
    """Subscribes to events; also the recorder of an `ObservedStore`."""

    def __init__(self, series: Series) -> None:
        self.series = series
        #: Set by the tracer: durations then carry the trace as an exemplar.
        self.trace_of: TraceOf | None = None
        #: By the id of a job whose attempts succeed.
        self._cells: dict[str, _Cell] = {}
        self._alike: dict[tuple[str, str, type, State, OutcomeKind], _Cell] = {}
        self._responses: dict[tuple[str, int], int] = {}
        self._queues: set[tuple[str, str]] = set()
        self._projects: set[str] = set()
        self._calls: dict[str, int] = {}
        self._notifier_failures = 0
        with series.lock:
            for metric in metrics.METRICS:  # from the start on, so that a rate sees the first
                if metric.type is not metrics.Type.GAUGE and not metric.labels:
                    series.index_of(metric)

    def hear(self, event: events.Event) -> None:
        """Count an event."""
        with self.series.lock:
            count = _COUNTS.get(type(event))
            if count is not None:
                count(self, event)

    def record(self, call: StoreCall) -> None:
        """Count a call to the store."""
        operation = call.operation
        with self.series.lock:
            index = self._calls.get(operation)
            if index is None:
                index = self.series.index_of(metrics.STORE_CALLS, "", (operation,))
                self._calls[operation] = index
            self._observe(metrics.STORE_CALLS, index, call.seconds)
            if call.error is None:
                if (count := _ANSWERS.get(operation)) is not None:
                    count(self, call)
            elif isinstance(call.error, StoreError):  # a refusal or a cancelled call is no failure
                self._add(metrics.STORE_ERRORS, 1, operation)
            if FAILURES.count != self._notifier_failures:
                self._add(metrics.NOTIFIER_ERRORS, FAILURES.count - self._notifier_failures)
                self._notifier_failures = FAILURES.count

    def _add(self, metric: Metric, count: float, *labels: str, project: str = "") -> None:
        self.series.values[self.series.index_of(metric, project, labels)] += count

    def _observe(self, metric: Metric, index: int, seconds: float) -> None:
        values = self.series.values
        values[index + bisect_left(metric.buckets, seconds)] += 1
        values[index + metric.width - 1] += seconds

    def _on_reports(self, reports: Sequence[Report]) -> None:
        """Count reports: of each only what differs, the rest once for all that are alike."""
        values, cells, used = self.series.values, self._cells, list[_Cell]()
        trace_of = self.trace_of
        for report in reports:
            claim, started_at = report.claim, report.started_at
            job = claim.job
            if report.outcome is OutcomeKind.SUCCEEDED:
                cell = cells.get(job.id)
                if cell is None or cell.job is not job:
                    cell = self._remember(job, report)
            else:
                cell = self._cell(job, report)
            if not cell.count:
                used.append(cell)
            cell.count += 1
            # A lost one ended when its worker was missed: that is no duration, in tallies neither.
            if started_at is not None and report.outcome is not OutcomeKind.LOST:
                taken, late = report.ended_at - started_at, started_at - claim.run_at
                # A clock that was set back meanwhile: no sum may go down.
                taken, late = (taken, late) if taken >= 0 <= late else (max(taken, 0), max(late, 0))
                index = cell.durations + (
                    _TAKEN[taken] if taken < _TABLE else bisect_left(_DURATIONS, taken)
                )
                values[index] += 1
                values[
                    cell.lateness + (_LATE[late] if late < _TABLE else bisect_left(_LATENESS, late))
                ] += 1
                cell.taken += taken
                cell.late += late
                if trace_of is not None:
                    self._show_trace(trace_of(report), index, report, taken)
            if cell.is_http:
                self._on_response(job.project, report)
        for cell in used:
            cell.write(values)
        if trace_of is not None and reports:
            self.series.write_exemplars(reports[-1].ended_at / 1000)

    def _show_trace(self, trace: str | None, index: int, report: Report, taken: int) -> None:
        if trace:
            self.series.exemplars[index] = Exemplar(trace, taken / 1000, report.ended_at / 1000)

    def _remember(self, job: Job, report: Report) -> _Cell:
        """What successes of the job have in common; an edited job is another object."""
        if len(self._cells) >= MOST_CELLS:
            self._cells.clear()
        shared = self._cell(job, report)
        cell = self._cells[job.id] = _Cell(job, shared.indexes, shared.durations, shared.lateness)
        return cell

    def _cell(self, job: Job, report: Report) -> _Cell:
        """What all reports alike have in common."""
        key = job.project, job.queue, type(job.target), report.state, report.outcome
        found = self._alike.get(key)
        if found is None:
            if len(self._alike) >= MOST_CELLS:  # a tenant may name as many queues as it likes
                self._alike.clear()
            found = self._alike[key] = self._new_cell(job, report)
        return found

    def _new_cell(self, job: Job, report: Report) -> _Cell:
        index_of, project = self.series.index_of, self._project(job.project)
        target = _TARGETS.get(type(job.target), OTHER)
        ends, indexes = report.state in _ENDED, list[int]()
        if ends:
            labels = report.state.value, self._queue(job.project, job.queue)
            indexes.append(index_of(metrics.EXECUTIONS, project, labels))
        elif report.outcome in _FAILED:
            indexes.append(index_of(metrics.RETRIES, project))
        if report.state is State.SKIPPED:
            indexes.append(index_of(metrics.SKIPS, "", (str(report.reason),)))
        elif not report.is_untried:  # one that was given back before it began was no attempt
            indexes.append(index_of(metrics.ATTEMPTS, project, (report.outcome.value, target)))
        durations = index_of(metrics.DURATION, project, (target,))
        return _Cell(job, tuple(indexes), durations, index_of(metrics.LATENESS, project))

    def _project(self, name: str) -> str:
        if name not in self._projects:
            if len(self._projects) >= MOST_PROJECTS:
                return OTHER_PROJECT
            self._projects.add(name)
        return name

    def _queue(self, project: str, name: str) -> str:
        key = project, name
        if key not in self._queues:
            if len(self._queues) >= MOST_QUEUES:
                return OTHER
            self._queues.add(key)
        return name

    def _on_response(self, project: str, report: Report) -> None:
        status = report.result.get("status") if isinstance(report.result, dict) else None
        if type(status) is not int or not 100 <= status <= 599:
            return  # never answered
        if status not in _CODES:  # a target sends what it likes, and each one is a series
            status = status // 100 * 100
        index = self._responses.get((project, status))
        if index is None:
            shown = self._project(project)
            index = self.series.index_of(metrics.RESPONSES, shown, (str(status),))
            if len(self._responses) >= MOST_CELLS:
                self._responses.clear()
            self._responses[project, status] = index
        self.series.values[index] += 1

    def _on_finished(self, event: events.AttemptsFinished | events.Recovered) -> None:
        self._on_reports(event.reports)

    def _on_fenced(self, event: events.AttemptsFenced) -> None:
        for report in event.reports:
            self._add(metrics.FENCED, 1, project=self._project(report.claim.job.project))

    def _on_planned(self, event: events.Planned) -> None:
        self._add(metrics.FIRED, event.executions)
        self._add(metrics.PLANNED, event.jobs)
        for reason, count in event.reasons.items():
            self._add(metrics.SKIPS, count, reason)
        index = self.series.index_of(metrics.PLAN_DURATION)
        self._observe(metrics.PLAN_DURATION, index, event.seconds)

    def _on_cancelled(self, event: events.Cancelled) -> None:
        project = self._project(event.project)
        for queue, count in event.queues.items():
            labels = State.CANCELLED.value, self._queue(event.project, queue)
            self._add(metrics.EXECUTIONS, count, *labels, project=project)

    def _on_step_failed(self, event: events.StepFailed) -> None:
        self._add(metrics.STEP_FAILURES, 1, event.service)
        if event.service == "watcher":
            self._add(metrics.NOTIFIER_ERRORS, 1)

    def _on_claim(self, call: StoreCall) -> None:
        self._add(metrics.CLAIMS, 1, "some" if call.answer else "none")

    def _on_change(self, call: StoreCall) -> None:
        for changed in call.answer:
            if changed.withdrawn:
                self._add(metrics.SKIPS, changed.withdrawn, changed.reason.value)

    def _on_settle(self, call: StoreCall) -> None:
        _, _, to, reason, _ = call.arguments
        if to is State.SKIPPED and call.answer:
            self._add(metrics.SKIPS, len(call.answer), Reason(reason).value)

    def _on_worker_lost(self, _: events.WorkerLost) -> None:
        self._add(metrics.WORKERS_LOST, 1)

    def _on_process_ended(self, _: events.ProcessEnded) -> None:
        self._add(metrics.RESTARTS, 1)


_COUNTS: dict[type, Callable[[Counting, Any], None]] = {
    events.AttemptsFinished: Counting._on_finished,  # noqa: SLF001 - its own table
    events.Recovered: Counting._on_finished,  # noqa: SLF001
    events.AttemptsFenced: Counting._on_fenced,  # noqa: SLF001
    events.Planned: Counting._on_planned,  # noqa: SLF001
    events.Cancelled: Counting._on_cancelled,  # noqa: SLF001
    events.StepFailed: Counting._on_step_failed,  # noqa: SLF001
    events.WorkerLost: Counting._on_worker_lost,  # noqa: SLF001
    events.ProcessEnded: Counting._on_process_ended,  # noqa: SLF001
}
_ANSWERS: dict[str, Callable[[Counting, StoreCall], None]] = {
    "claim": Counting._on_claim,  # noqa: SLF001
    "change_jobs": Counting._on_change,  # noqa: SLF001
    "settle": Counting._on_settle,  # noqa: SLF001
}
