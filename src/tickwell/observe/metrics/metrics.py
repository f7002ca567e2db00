"""The metrics of one process: counted, read, and shown to scrapers."""

from __future__ import annotations

import asyncio
import platform
from collections.abc import Awaitable, Callable, Iterator, Mapping
from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING, Any

from tickwell.clock import Clock, to_datetime
from tickwell.domain.alert.rule import SEVERITIES
from tickwell.domain.execution import State
from tickwell.domain.health import Health, Level, ProcessHealth
from tickwell.errors import InvalidSetting, StoreUnavailable
from tickwell.observe.metrics import definitions
from tickwell.observe.metrics.counting import Counting
from tickwell.observe.metrics.definitions import Metric
from tickwell.observe.metrics.series import Sample, Series
from tickwell.observe.metrics.store_figures import Figures, QueueLengths, StoreFigures
from tickwell.ports.store import Store
from tickwell.settings import Settings

if TYPE_CHECKING:
    from prometheus_client.registry import Collector

#: Projects whose figures are kept at hand for their own keys.
MOST_PROJECTS = 100
_TEXT = frozenset({"text/plain", "application/openmetrics-text", "application/vnd.google.protobuf"})
_ENABLED = "active"


class Metrics:
    """Counts from when it is made; reads the store when somebody asks."""

    def __init__(self, store: Store, clock: Clock, settings: Settings, *, version: str) -> None:
        self.store = store
        self.clock = clock
        self.settings = settings
        self.series = Series(settings.metrics_dir)
        self.counting = Counting(self.series)
        #: The state of the engine in this process, and when its planner last finished a step.
        self.process: Callable[[], ProcessHealth] = lambda: ProcessHealth(ok=True)
        self.planner_step: Callable[[], int | None] = lambda: None
        #: Judges the health of the whole platform; None: this process shows only its own.
        self.judge: Callable[[], Awaitable[Health]] | None = None
        #: The level of each health check by its name, as of the last scrape.
        self._levels: Mapping[str, int] = {}
        self._build = (version, platform.python_version(), store.name.partition(":")[0])
        self._lengths = QueueLengths(clock, settings.metrics_ttl)
        self._figures = self._of(None)
        self._of_projects: dict[str, StoreFigures] = {}

    async def text(self, accept: str = "", project: str | None = None) -> tuple[bytes, str]:
        """What a scraper that accepts this is sent, and its content type.

        With a project: what belongs to it, and nothing else.
        """
        families = _families()
        found = [*self._counted(project), *await self._gauges(project)]
        shown = families.Families(found, whole=project is None)
        content: tuple[bytes, str] = families.encode(shown, accept)
        return content

    def collector(self) -> Collector:
        """For a registry of one's own; figures of the store are those that were last read."""
        made: Collector = _families().LiveFamilies(self._last_known)
        return made

    def _last_known(self) -> list[Sample]:
        figures = self._figures.known
        found = [*self._counted(None), *self._of_process()]
        return found if figures is None else [*found, *_stored(figures)]

    async def document(self, project: str | None = None) -> dict[str, Any]:
        """The same in short, as JSON; raises `StoreUnavailable` without figures of the store."""
        figures, self._levels = await asyncio.gather(self._source(project).read(), self._judged())
        if figures is None or not self._answers:  # zeros would be taken for figures
            raise StoreUnavailable("the store does not answer, so there are no figures of it")
        ended, jobs = figures.executions, figures.jobs
        succeeded, died = ended.get(State.SUCCEEDED, 0), ended.get(State.DEAD, 0)
        pending = (State.WAITING, State.BLOCKED, State.QUEUED, State.PARKED)
        taken, count = self._durations(project)
        return {
            "timestamp": to_datetime(figures.at).isoformat(timespec="seconds"),
            "jobs": {
                "total": sum(jobs.values()),
                "enabled": jobs.get(_ENABLED, 0),
                "disabled": sum(n for state, n in jobs.items() if state != _ENABLED),
            },
            "executions": {
                "total": sum(ended.values()),
                "queued": sum(ended.get(state, 0) for state in pending),
                "running": ended.get(State.RUNNING, 0),
                "success": succeeded,
                "failure": died,
                "dead_letter": died,
                "success_rate": _percent(succeeded, succeeded + died),
                "avg_duration_ms": round(taken / count * 1000, 3) if count else None,
            },
        }

    async def close(self) -> None:
        """Read no more."""
        for each in (self._figures, *self._of_projects.values()):
            await each.close()

    def _of(self, project: str | None) -> StoreFigures:
        settings = self.settings
        return StoreFigures(
            self.store,
            self.clock,
            life=settings.metrics_ttl,
            job_times=settings.metrics_jobs,
            lengths=self._lengths,
            project=project,
        )

    def _source(self, project: str | None) -> StoreFigures:
        if project is None:
            return self._figures
        if project not in self._of_projects:
            if len(self._of_projects) >= MOST_PROJECTS:
                self._of_projects.pop(next(iter(self._of_projects)))
            self._of_projects[project] = self._of(project)
        return self._of_projects[project]

    def _counted(self, project: str | None) -> list[Sample]:
        samples = self.series.samples()
        return [each for each in samples if project is None or each.project == project]

    def _durations(self, project: str | None) -> tuple[float, float]:
        """Seconds of all attempts that this process counted, and how many."""
        found = [
            each.values for each in self._counted(project) if each.metric is definitions.DURATION
        ]
        return sum(values[-1] for values in found), sum(sum(values[:-1]) for values in found)

    async def _gauges(self, project: str | None) -> list[Sample]:
        source = self._source(project)
        found: list[Sample] = []
        if project is None:
            # At once: one after the other, a store that hangs would take longer than a scrape may.
            figures, self._levels = await asyncio.gather(source.read(), self._judged())
            figures = figures if self._is_up else None
            found += self._of_process()
        else:
            figures = await source.read()
        if figures is not None:
            found += [each for each in _stored(figures) if project is None or _is_of_one(each)]
        return found

    @property
    def _is_up(self) -> bool:
        return self._figures.is_up and self._answers

    @property
    def _answers(self) -> bool:
        """Whether health finds the store up. It knows sooner: figures may take long to read."""
        return self._levels.get("store") != Level.RED.rank

    def _of_process(self) -> Iterator[Sample]:
        process, stepped_at = self.process(), self.planner_step()
        yield _sample(definitions.BUILD, 1, *self._build)
        yield _sample(definitions.STORE_UP, self._is_up)
        yield _sample(definitions.STORE_UNDER_WAY, getattr(self.store, "under_way", 0))
        yield _sample(definitions.IN_HAND, process.in_hand)
        yield _sample(definitions.BACKLOG, process.backlog)
        if stepped_at is not None:
            yield _sample(definitions.PLANNER_STEP, stepped_at / 1000)
        for check, level in self._levels.items():
            yield _sample(definitions.HEALTH, level, check)

    async def _judged(self) -> dict[str, int]:
        """The rank of the worst finding of each check: 0 green, 1 amber, 2 red."""
        if self.judge is None:
            level = Level.GREEN if self.process().ok else Level.RED
            return {"process": level.rank}
        levels: dict[str, int] = {}
        for finding in (await self.judge()).findings:
            levels[finding.check] = max(levels.get(finding.check, 0), finding.level.rank)
        return levels


def _families() -> ModuleType:
    try:
        return import_module("tickwell.observe.metrics.families")
    except ModuleNotFoundError as error:
        raise InvalidSetting(
            f"{error.name} is not installed",
            field="metrics",
            hint="Install it: pip install 'tickwell[metrics]'",
        ) from error


def is_text_wanted(accept: str) -> bool:
    """Whether a scraper asks; a browser, or a person with curl, gets JSON."""
    kinds = (part.partition(";")[0].strip().lower() for part in accept.split(","))
    return any(kind in _TEXT for kind in kinds)


def _stored(figures: Figures) -> Iterator[Sample]:
    due: dict[str, int] = {}
    for queue, state, count, count_due in figures.queues:
        yield _sample(definitions.QUEUE_LENGTH, count, queue, state)
        due[queue] = due.get(queue, 0) + (count_due if state != State.RUNNING else 0)
    for queue, count in due.items():
        yield _sample(definitions.DUE, count, queue)
    for state, count in figures.executions.items():
        yield _sample(definitions.RECORDED, count, state)
    for state, count in figures.jobs.items():
        yield _sample(definitions.JOBS, count, state)
    for role, count in figures.roles.items():
        yield _sample(definitions.WORKERS, count, role)
    yield _sample(definitions.DEAD_LETTERS, figures.executions.get(State.DEAD, 0))
    yield _sample(definitions.CAPACITY, figures.capacity)
    yield _sample(definitions.UNANSWERED, figures.unanswered)
    for severity in SEVERITIES:
        yield _sample(definitions.ALERTS_FIRING, figures.alerts.get(severity, 0), severity)
    for each in figures.times:
        if each.succeeded_at is not None:
            at = each.succeeded_at / 1000
            yield _sample(definitions.LAST_SUCCESS, at, each.project, each.job)
        if each.fires_at is not None:
            yield _sample(definitions.NEXT_FIRE, each.fires_at / 1000, each.project, each.job)


def _is_of_one(sample: Sample) -> bool:
    return sample.metric.by_project


def _sample(metric: Metric, value: float, *labels: str) -> Sample:
    return Sample(metric, "", labels, [float(value)])


def _percent(part: int, whole: int) -> float | None:
    return round(part / whole * 100, 2) if whole else None
