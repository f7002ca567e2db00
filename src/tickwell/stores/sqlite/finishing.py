"""Finishing: a batch of reports in a few statements, gated ones one by one after it."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import Any

from tickwell.domain.execution import Kind
from tickwell.domain.job import Job
from tickwell.domain.outcome import Report
from tickwell.ports.records import Finished
from tickwell.stores.sql.cache import JobCache
from tickwell.stores.sql.codec import (
    ACTIVE,
    FINISHED,
    FIRE,
    OUTCOME_CODE,
    QUEUED,
    STATE_CODE,
    WAITING,
)
from tickwell.stores.sql.reports import counts_failures, failures_after
from tickwell.stores.sqlite.ending import Endings
from tickwell.stores.sqlite.flow import Flow
from tickwell.stores.sqlite.session import Session
from tickwell.stores.sqlite.standing import Standing


class Finishing:
    """One call of `finish`, inside a transaction."""

    def __init__(self, session: Session, cache: JobCache, now: int) -> None:
        self.session = session
        self.now = now
        self.flow = Flow(session, cache)
        self.endings = Endings(self.flow, now)
        #: Executions that end and need no gate but the job's own, with the definition in force.
        self.ends: list[tuple[Standing, Report, Job]] = []
        #: The others, by the key of the execution: the place of the report, and the report.
        self.others: dict[int, tuple[int, Report]] = {}
        #: Jobs whose gate becomes free, and the place of the report that frees it.
        self.freed: dict[int, int] = {}
        self.failures: dict[int, int] = {}

    def finish(self, reports: Sequence[Report]) -> Finished:
        """Apply each report whose attempt stands; those applied before are not refused."""
        asked = json.dumps([report.claim.id for report in reports])
        #: By the keys of the executions, so that of two reports of an attempt the first counts.
        applied: dict[int, int] = {}
        for place, *columns in self.session.array("standing", asked):
            row, report = Standing(*columns), reports[place]
            if row.attempt == report.claim.attempt and row.key not in applied:
                applied[row.key] = place
                self._sort(place, row, report)
        if applied:
            self._apply(list(applied))
        doubtful = set(range(len(reports))).difference(applied.values())
        refused = {place for place in doubtful if not self._was_applied(reports[place])}
        return Finished(
            refused=[reports[place] for place in sorted(refused)],
            failures=self._failures(r for place, r in enumerate(reports) if place not in refused),
        )

    def _sort(self, place: int, row: Standing, report: Report) -> None:
        state = STATE_CODE[report.state]
        if counts_failures(report):
            before = self.failures.get(row.job, row.failures)
            self.failures[row.job] = failures_after(report, before)
        if state == WAITING or row.place is not None or row.called_off:
            self.others[row.key] = place, report
            return
        self.ends.append((row, report, self.endings.job_of(row, report.claim.job)))
        if row.holds_job:
            self.freed[row.job] = place

    def _apply(self, applied: list[int]) -> None:
        """First what needs no gate but the job's own, all together; the rest one by one."""
        others = self._details() if self.others else []
        self.session.run("stop", json.dumps(applied))
        self._write_ends()
        again = [(row, report) for row, _, report in others if _is_plain_retry(row, report)]
        if again:
            self._write_retries(again)
        passed = self._pass_on()
        self.session.many("set_failures", [(count, job) for job, count in self.failures.items()])
        # Before a concurrency gate order matters: in that of the reports.
        steps = dict(passed)
        singles = {
            place: (row, report)
            for row, place, report in others
            if not _is_plain_retry(row, report)
        }
        for place in sorted(steps.keys() | singles.keys()):
            if place in steps:
                self.endings.pass_on(steps[place])
            else:
                self.endings.apply(*singles[place])
        self.flow.close()

    def _details(self) -> list[tuple[Standing, int, Report]]:
        rows = self.session.rows("standing_details", json.dumps(list(self.others)))
        return [(Standing(*row), *self.others[row[0]]) for row in rows]

    def _write_ends(self) -> None:
        alike: defaultdict[tuple[Any, ...], list[tuple[Any, ...]]] = defaultdict(list)
        for row, report, job in self.ends:
            state = STATE_CODE[report.state]
            common = row.common_end(report, job, state, report.reason)
            alike[common].append(row.end_row(report))
            self.flow.ended[job.project, state] += 1
            if job.trigger.follows_finish and report.claim.kind is Kind.FIRE:
                self.flow.after_end(job, row.job, FIRE, state, report.ended_at)
        for common, rows in alike.items():
            self.session.together("end_executions", rows, common)

    def _write_retries(self, retries: list[tuple[Standing, Report]]) -> None:
        attempts, put_off, gone_on, again = [], [], [], []
        for row, report in retries:
            state = QUEUED if report.run_at <= self.now else WAITING
            put_off += row.put_off_rows(report)
            attempts.append(row.attempt_row(report))
            gone_on.append(row.go_on_row(report, report.run_at))
            again.append(row.again_row(report, report.run_at, report.rank, state))
        self.session.many("drop_put_off", put_off)
        self.session.many("insert_attempts", attempts)
        self.session.many("go_on", gone_on)
        self.session.many("insert_again", again)

    def _pass_on(self) -> list[tuple[int, int]]:
        """Give free gates on; who stands before a concurrency gate now, by the report's place."""
        if not self.freed:
            return []
        passed = self.session.rows("pass_job_on", json.dumps(list(self.freed)))
        keys = [holder for _, holder in passed if holder is not None]
        if not keys:
            return []
        asked = json.dumps(keys)
        if self.session.run("queue_holders", asked).rowcount == len(keys):
            return []
        return [(self.freed[job], key) for key, job in self.session.rows("keyed_holders", asked)]

    def _failures(self, reports: Iterable[Report]) -> dict[str, int]:
        jobs = {r.claim.job.id for r in reports if r.claim.job.pause_after is not None}
        return {id: self.session.value("failures_of", id) for id in jobs}

    def _was_applied(self, report: Report) -> bool:
        """The reply to the same report was lost: its attempt is on record, ended then."""
        outcome, ended = OUTCOME_CODE[report.outcome], report.ended_at
        id, number = report.claim.id, report.claim.attempt
        asked = number, id, ended, outcome, outcome, number, ended
        return self.session.row("was_applied", *asked) is not None


def _is_plain_retry(row: Standing, report: Report) -> bool:
    """Whether another attempt follows that no gate, no edit and no request to cancel concerns."""
    if row.place is not None or row.called_off or row.cancel:
        return False
    goes_on = row.job_version == row.version and row.job_state in {ACTIVE, FINISHED}
    return goes_on and STATE_CODE[report.state] == WAITING
