"""What the store shows about the condition of a rule: who meets it, and who no longer does."""

from __future__ import annotations

from collections.abc import Callable, Collection, Coroutine, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol

from tickwell.domain.ability import EXTERNAL
from tickwell.domain.alert import AlertState, Condition, Observed, Rule
from tickwell.domain.alert.rule import FEWEST_ATTEMPTS, TOO_MANY_DUE, TOO_MANY_FAIL
from tickwell.domain.execution import DUE, PENDING, Execution, Reason, State
from tickwell.domain.health import Finding, Level
from tickwell.domain.job import Entry, JobState
from tickwell.domain.maintenance import MaintenanceWindow
from tickwell.domain.policy import HOUR, MINUTE
from tickwell.domain.tally import MINUTES, Range, Tally, total
from tickwell.domain.trigger.duration import format_duration
from tickwell.log.headline import headline
from tickwell.log.text import one_line
from tickwell.ports.records import ExecutionFilter, JobFilter
from tickwell.ports.store import CatalogStore, HistoryStore, RecordStore
from tickwell.services.alerts.book import notice_key, read_channels
from tickwell.services.alerts.missing import MissingJobs, observed
from tickwell.services.alerts.monitors_down import MonitorsDown
from tickwell.services.alerts.outcomes import Ended
from tickwell.services.alerts.watched import is_watched
from tickwell.services.health import HealthReader
from tickwell.services.insights.metrics import by_interval, read
from tickwell.services.jobs.backlogs import Backlogs
from tickwell.services.jobs.jobs_by_id import jobs_by_id

#: Executions and jobs that one look reads to find subjects.
MOST_FOUND = 200
#: Running executions that one look reads.
_RUNNING = 1000
#: Milliseconds that skips are looked back for.
_SKIPS = HOUR
#: Minutes over which failures, and deaths, are counted.
_FAILURES, _DEATHS = 5, 15
#: Characters of an error in an alert.
_LONGEST_CAUSE = 200
_RAN = frozenset({State.SUCCEEDED, State.DEAD})
#: Skips that are meant: a person changed the job or is at work, or its condition answered no.
_MEANT = frozenset(
    {
        Reason.WITHDRAWN,
        Reason.PAUSED,
        Reason.BY_PERSON,
        Reason.CONDITION,
        Reason.MAINTENANCE,
    }
)
#: Health checks by the condition that watches them.
_CHECKS: Mapping[Condition, Collection[str]] = {
    Condition.PLANNER: {"planner"},
    Condition.WORKERS: {"workers", "queues", "handlers"},
}
Seen = dict[str, Observed | None]


class ObservedStore(CatalogStore, HistoryStore, RecordStore, Protocol):
    """The part of a store that conditions are read from."""


@dataclass(slots=True, kw_only=True)
class Look:
    """One look at a project, by one rule."""

    project: str
    rule: Rule
    #: What is known of the rule: its subjects are looked at again.
    state: AlertState
    #: What ended since the last look, by job.
    ended: Mapping[str, Ended]
    #: Maintenance windows of the project, those that are over included.
    windows: Sequence[MaintenanceWindow]
    now: int

    @property
    def after(self) -> int:
        """The time of the rule."""
        return self.rule.after or 0

    def covers(self, job: str) -> bool:
        """Whether the rule is about this job."""
        return self.rule.job in {None, job}


class Observer:
    """Answers for every subject that it looked at what it saw, or None: well."""

    def __init__(self, store: ObservedStore, health: HealthReader) -> None:
        self._store = store
        self._health = health
        self._backlogs = Backlogs(store, health.clock, lambda: None)
        self._missing: dict[tuple[str, str], MissingJobs] = {}
        self._monitors: dict[str, MonitorsDown] = {}
        self._ways: Mapping[Condition, Callable[[Look], Coroutine[Any, Any, Seen]]] = {
            Condition.MISSING: self._see_missing,
            Condition.LATE: self._see_late,
            Condition.SLOW: self._see_slow,
            Condition.FAILING: self._see_failing,
            Condition.SKIPPED: self._see_skipped,
            Condition.MONITORS: self._see_monitors,
            Condition.PLANNER: self._see_health,
            Condition.WORKERS: self._see_health,
            Condition.FAILURE_RATE: self._see_failure_rate,
            Condition.BACKLOG: self._see_backlog,
            Condition.HELD: self._see_held,
            Condition.DEAD_LETTERS: self._see_dead_letters,
        }

    async def look(self, look: Look) -> Seen:
        """All that is known of the subjects of a rule now."""
        return await self._ways[look.rule.condition](look)

    def behind(self, now: int) -> bool:
        """Whether there is more to look at than one step did."""
        return any(each.behind(now) for each in self._missing.values())

    def keep(self, rules: Collection[tuple[str, str]]) -> None:
        """Forget what is known of rules, by project and id, that are gone."""
        for gone in self._missing.keys() - set(rules):
            del self._missing[gone]
        for project in self._monitors.keys() - {project for project, _ in rules}:
            del self._monitors[project]

    async def _see_missing(self, look: Look) -> Seen:
        key = look.project, look.rule.id
        known = self._missing.get(key)
        if known is None:
            known = MissingJobs(self._store, look.project, look.rule)
            self._missing[key] = known
        return await known.look(look.ended, look.state.alerts, look.windows, look.now)

    async def _see_monitors(self, look: Look) -> Seen:
        known = self._monitors.setdefault(look.project, MonitorsDown(self._store, look.project))
        return await known.look(look.ended, look.state.alerts, look.now)

    async def _see_late(self, look: Look) -> Seen:
        late: dict[str, int] = {}
        before = look.now - look.after
        waiting = ExecutionFilter(
            project=look.project, job_id=look.rule.job, states=PENDING, due_before=before
        )
        for each in await self._newest_and_known(look, waiting, MOST_FOUND):
            late[each.job_id] = min(late.get(each.job_id, each.run_at), each.run_at)
        unplanned = JobFilter(
            project=look.project, states=frozenset({JobState.ACTIVE}), fires_before=before
        )
        for entry in (await self._store.list_jobs(unplanned, limit=MOST_FOUND)).items:
            fires = entry.cursor.next_fire_time
            if fires is not None and look.covers(entry.job.id):
                late.setdefault(entry.job.id, fires)
        entries = await self._entries(look, late)
        return {
            job: observed(entry, f"due {format_duration(look.now - late[job])} ago")
            if job in late and entry is not None
            else None
            for job, entry in entries.items()
        }

    async def _see_slow(self, look: Look) -> Seen:
        running = ExecutionFilter(
            project=look.project, job_id=look.rule.job, states=frozenset({State.RUNNING})
        )
        began: dict[str, int] = {}
        for each in await self._newest_and_known(look, running, _RUNNING):
            if each.started_at is not None and look.now - each.started_at > look.after:
                began[each.job_id] = min(began.get(each.job_id, each.started_at), each.started_at)
        took = {job for job, each in look.ended.items() if each.took > look.after}
        found: Seen = {}
        for job, entry in (await self._entries(look, {*began, *took})).items():
            if entry is None:
                found[job] = None
            elif job in began:
                text = f"has been running for {_rounded(look.now - began[job])}"
                found[job] = observed(entry, text)
            else:
                found[job] = await self._last_was_slow(look, entry)
        return found

    async def _newest_and_known(
        self, look: Look, where: ExecutionFilter, limit: int
    ) -> list[Execution]:
        """The newest, and those of subjects: one is not well because others are newer."""
        page = await self._store.list_executions(where, limit=limit)
        found = [*page.items]
        if page.cursor is not None and where.job_id is None:
            for job in filter(look.covers, look.state.alerts):
                of_job = replace(where, job_id=job)
                found += (await self._store.list_executions(of_job, limit=MOST_FOUND)).items
        return found

    async def _last_was_slow(self, look: Look, entry: Entry) -> Observed | None:
        last = await self._newest(look, entry.job.id, _RAN, 1)
        if not last or last[0].started_at is None or last[0].ended_at is None:
            return None
        took = last[0].ended_at - last[0].started_at
        return observed(entry, f"ran for {_rounded(took)}") if took > look.after else None

    async def _see_failing(self, look: Look) -> Seen:
        died = {job for job, each in look.ended.items() if each.has_died}
        return await self._in_a_row(look, died, _RAN, State.DEAD)

    async def _see_skipped(self, look: Look) -> Seen:
        where = ExecutionFilter(
            project=look.project,
            job_id=look.rule.job,
            states=frozenset({State.SKIPPED}),
            since=look.now - _SKIPS,
        )
        page = await self._store.list_executions(where, limit=MOST_FOUND)
        skipped = {each.job_id for each in page.items if each.reason not in _MEANT}
        return await self._in_a_row(look, skipped, _RAN | {State.SKIPPED}, State.SKIPPED)

    async def _in_a_row(
        self, look: Look, jobs: Collection[str], states: frozenset[State], bad: State
    ) -> Seen:
        times = look.rule.times or 1
        found: Seen = {}
        for job, entry in (await self._entries(look, jobs)).items():
            if entry is None:
                found[job] = None
                continue
            last = await self._newest(look, job, states, times)
            if len(last) == times and all(_is_bad(each, bad) for each in last):
                why = _cause(last[0])
                text = f"{look.rule.words}{f': {why}' if why else ''}"
                found[job] = observed(entry, text)
            else:
                found[job] = None
        return found

    async def _newest(
        self, look: Look, job: str, states: frozenset[State], limit: int
    ) -> list[Execution]:
        where = ExecutionFilter(project=look.project, job_id=job, states=states)
        return (await self._store.list_executions(where, limit=limit)).items

    async def _entries(self, look: Look, jobs: Collection[str]) -> dict[str, Entry | None]:
        """These and what is not well, those of the rule; None: nobody expects it to run."""
        wanted = {job for job in {*jobs, *look.state.alerts} if look.covers(job)}
        found = await jobs_by_id(self._store, look.project, wanted)
        entries = {job: found.get(job) for job in wanted}
        return {job: each if is_watched(each) else None for job, each in entries.items()}

    async def _see_health(self, look: Look) -> Seen:
        checks = _CHECKS[look.rule.condition]
        health = await self._health.project(look.project)
        red = [each for each in health.findings if each.level is Level.RED]
        found = [each for each in red if each.check in checks]
        return {"": Observed(look.project, _sentence(found[0])) if found else None}

    async def _see_failure_rate(self, look: Look) -> Seen:
        tally = await self._last_minutes(look, _FAILURES)
        failed, ran = tally.dead + tally.retried, tally.executions - tally.cancelled + tally.retried
        if ran < FEWEST_ATTEMPTS or failed <= TOO_MANY_FAIL * ran:
            return {"": None}
        return {"": Observed(look.project, f"{failed:,} of {ran:,} attempts failed in 5 minutes")}

    async def _see_held(self, look: Look) -> Seen:
        if not await self._backlogs.noted(look.project):
            return {"": None}
        held = await self._backlogs.held(look.project)
        runs = sum(each.backlog.count for each in held)
        text = f"missed fires held: {runs:,} of {len(held):,} jobs; decide: tickwell backlog list"
        return {"": Observed(look.project, text) if held else None}

    async def _see_dead_letters(self, look: Look) -> Seen:
        died = (await self._last_minutes(look, _DEATHS)).dead
        if died:
            died -= await self._own_deaths(look)
        text = f"{died:,} execution{'' if died == 1 else 's'} died in the last 15 minutes"
        return {"": Observed(look.project, text) if died > 0 else None}

    async def _own_deaths(self, look: Look) -> int:
        """Messages of this rule that died: each would be the cause of the next, without end."""
        where = ExecutionFilter(project=look.project, states=frozenset({State.DEAD}))
        page = await self._store.list_executions(where, limit=MOST_FOUND)
        since = look.now // MINUTE * MINUTE - _DEATHS * MINUTE
        about = notice_key(look.rule.id)
        channels = {each.id for each in await read_channels(self._store, look.project, look.now)}
        dead = [each for each in page.items if (each.ended_at or 0) >= since]
        sent = [each for each in dead if each.job_id in channels]
        return sum(1 for each in sent if (each.key or "").startswith(about))

    async def _last_minutes(self, look: Look, minutes: int) -> Tally:
        since = look.now // MINUTE * MINUTE - minutes * MINUTE
        within = Range(MINUTES, since, look.now + 1)
        counted = await read(self._store, look.project, within, look.now)
        return total(by_interval(counted, within.starts()).values())

    async def _see_backlog(self, look: Look) -> Seen:
        stats = await self._store.stats(look.project)
        due = sum(stats.get(state, 0) for state in DUE)
        if due > TOO_MANY_DUE:  # those that wait for check-ins wait for no worker
            where = ExecutionFilter(project=look.project, states=DUE, ability=EXTERNAL)
            due -= len((await self._store.list_executions(where, limit=_RUNNING)).items)
        is_too_many = due > TOO_MANY_DUE
        text = f"{due:,} executions are due and not running"
        return {"": Observed(look.project, text) if is_too_many else None}


def _is_bad(execution: Execution, bad: State) -> bool:
    """Whether it ended so; a condition that answered is a job that works."""
    return execution.state is bad and execution.reason not in {
        Reason.CONDITION,
        Reason.MAINTENANCE,
    }


def _cause(execution: Execution) -> str:
    """Why it ended so, on one line: what a target says must not add lines to a message."""
    return one_line(headline(execution.error or execution.reason or ""))[:_LONGEST_CAUSE]


def _sentence(finding: Finding) -> str:
    return f"{finding.text}. {finding.remedy}"


def _rounded(millis: int) -> str:
    return format_duration(millis // 1000 * 1000)
