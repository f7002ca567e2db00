"""The judge: from facts to health. Pure; thresholds and levels live here and nowhere else."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from datetime import date
from shlex import quote

from tickwell.clock import to_datetime
from tickwell.domain.coverage import Coverage
from tickwell.domain.execution import State
from tickwell.domain.health.facts import (
    LATE,
    WAITS_LONG,
    CalendarEnd,
    Facts,
    LinkState,
    Platform,
    Work,
)
from tickwell.domain.health.verdict import Finding, Health, Level, ProcessHealth
from tickwell.domain.project_pause import EVERYTHING
from tickwell.domain.queue import LaneLength
from tickwell.domain.trigger.duration import format_duration
from tickwell.domain.worker import Liveness

#: Milliseconds by which a host's clock may differ from the store's.
SKEWED = 1_000
#: Jobs that a finding names.
_NAMED = 5
#: Reasons why work waits that have a finding each: a deployment may forget all of its handlers, and
#: a tenant may name hundreds of queues. Other findings must stay in sight.
_LISTED = 5
_START_WORKER = (
    "Start one: tickwell serve --role worker (with Celery as the engine:"
    " celery -A tickwell.celery worker)"
)
_START_PLANNER = "Start one: tickwell serve --role planner"


def judge(facts: Facts) -> Health:
    """What is wrong, the worst first, with the level that it adds up to."""
    platform, process = facts.platform, facts.process
    if platform.error is not None:
        found = [_store_away(platform), *_links(platform.links)]
        scheduler = "failing"
    else:
        found = list(_findings(facts))
        scheduler = _scheduler(found)
    found.sort(key=lambda each: -each.level.rank)  # stable: of one level in order of the checks
    return Health(
        findings=found,
        database=platform.error is None,
        redis=_redis(platform),
        scheduler_service=scheduler,
        process=process,
        looked_at=platform.now if platform.error is None else None,
    )


def _findings(facts: Facts) -> Iterator[Finding]:
    platform, work = facts.platform, facts.work
    if platform.flaws:  # everything else would be read by these
        for text, remedy in platform.flaws:
            yield Finding("indexes", Level.RED, text, remedy)
        return
    alive = [each for each in platform.processes if each.is_alive(platform.now)]
    workers = [each for each in alive if each.worker.is_worker]
    yield Finding("store", Level.GREEN, f"{platform.store} answers, and its schema is up to date")
    yield from _process(facts.process)
    yield _planner(platform, [each for each in alive if each.worker.is_planner])
    yield _workers(platform, workers, work)
    if workers:
        yield from _gaps(work, Coverage(workers), platform.now)
    yield from _paused(work)
    yield from _paused_projects(work)
    yield from _recovery(platform)
    yield from _clocks(platform, alive)
    yield from _links(platform.links)
    yield from _project(facts)


def _store_away(platform: Platform) -> Finding:
    # Errors of a store begin with its address, as this text does.
    address, error = platform.store, platform.error or ""
    text = f"{address} does not answer" + (f": {error}" if error else "")
    return Finding(
        "store",
        Level.RED,
        f"the store {error if error.startswith(address) else text}",
        "Start it, or restore the network to it; work resumes by itself once it answers",
    )


def _process(process: ProcessHealth | None) -> Iterator[Finding]:
    if process is None:
        return
    remedy = "Read the log of this process; restart it if the problem stays"
    for problem in process.problems:
        yield Finding("process", Level.RED, problem, remedy)
    for lane in process.full:
        remedy = "Look for hanging runs: tickwell executions list --state running"
        yield Finding("capacity", Level.GREEN, lane, remedy)  # long runs are no fault by themselves


def _planner(platform: Platform, planners: Sequence[Liveness]) -> Finding:
    now = platform.now
    if planners:
        late = _late(platform.fire, now)
        if late <= LATE:
            text = f"{len(planners)} alive, no fire time is overdue"
            return Finding("planner", Level.GREEN, text)
        text = f"a fire time has been overdue for {_seconds(late)}, although a planner is alive"
        remedy = "Read the planner's log: it hangs or cannot keep up. A second planner may help"
        return Finding("planner", Level.AMBER, text, remedy)
    due = platform.due
    if due is None:
        return Finding("planner", Level.GREEN, "no planner is alive, and no job has a fire time")
    what = "fire time" if due == platform.fire else "requested run or retry"
    if due > now:
        text = f"no planner is alive; the next {what} is in {_seconds(due - now)}"
        return Finding("planner", Level.AMBER, text, _START_PLANNER)
    if _late(due, now) <= LATE:
        text = f"no planner is alive, and a {what} is due"
        return Finding("planner", Level.AMBER, text, _START_PLANNER)
    text = f"no planner is alive, and a {what} has been overdue for {_seconds(now - due)}"
    return Finding("planner", Level.RED, text, _START_PLANNER)


def _workers(platform: Platform, workers: Sequence[Liveness], work: Work) -> Finding:
    if workers:
        busy = sum(each.worker.busy for each in workers)
        capacity = sum(each.worker.capacity for each in workers)
        text = f"{len(workers)} alive, busy {busy} of {capacity}"
        return Finding("workers", Level.GREEN, text)
    if work.lanes:
        waits, more = _sum(work, work.lanes)
        text = f"no worker is alive, and {_count(waits, more=more)} due"
        return Finding("workers", Level.RED, text, _START_WORKER)
    if _late(platform.due, platform.now) > LATE:
        text = "no worker is alive, and a job is due"
        return Finding("workers", Level.RED, text, _START_WORKER)
    return Finding("workers", Level.AMBER, "no worker is alive", _START_WORKER)


def _gaps(work: Work, coverage: Coverage, now: int) -> Iterator[Finding]:
    """Due work that no live worker can run, by the reason: workers come and go."""
    served, without = list[LaneLength](), defaultdict[str, list[LaneLength]](list)
    for lane in work.lanes:
        if gap := coverage.lane_gap(lane.queue, lane.ability):
            without[gap].append(lane)
        else:
            served.append(lane)
    found = sorted(without.items(), key=lambda each: -_sum(work, each[1])[0])
    for gap, lanes in found[:_LISTED]:
        count, more = _sum(work, lanes)
        yield _unserved(f"{_count(count, more=more)} waiting: {gap}", lanes[0].queue, coverage)
    if len(found) > _LISTED:
        rest = len(found) - _LISTED
        text = f"{rest:,} more {'queue or handler has' if rest == 1 else 'queues or handlers have'}"
        remedy = "See: tickwell queues list"
        yield Finding("queues", Level.RED, f"{text} due work and no live worker", remedy)
    refused = Counter(gap for each in work.refusable if (gap := coverage.gap(each)))
    for gap, count in refused.items():
        text = f"{_count(count, more=count >= work.limit)} waiting: {gap}"
        remedy = "Change the settings of a worker, or the job"
        yield Finding("parked", Level.AMBER, text, remedy)
    paused = {each.name for each in work.paused}
    if any(
        lane.state is State.QUEUED
        and lane.run_at < now - WAITS_LONG
        and lane.queue not in paused
        and not coverage.gap(lane)
        for lane in served
    ):
        text = "executions have been waiting for free capacity for a minute or more"
        yield Finding("queues", Level.AMBER, text, "Start more workers: tickwell serve")


def _unserved(text: str, queue: str, coverage: Coverage) -> Finding:
    if coverage.serves(queue):
        remedy = "Start the application that declares it: tickwell serve --app module:scheduler"
        return Finding("handlers", Level.RED, text, remedy)
    remedy = f"Start a worker for it: TICKWELL_QUEUES={quote(queue)} tickwell serve"
    return Finding("queues", Level.RED, text, remedy)


def _sum(work: Work, lanes: Sequence[LaneLength]) -> tuple[int, bool]:
    """How many executions lanes hold, and whether there are more."""
    counts = [lane.count for lane in lanes]
    return sum(counts), max(counts) >= work.limit


def _paused(work: Work) -> Iterator[Finding]:
    for queue in work.paused:
        why = f" ({queue.why})" if queue.why else ""
        remedy = f"Resume it: tickwell queues resume {quote(queue.name)}"
        if queue.backlog:
            waits = _count(queue.backlog, more=queue.more)
            text = f"queue {queue.name} is paused{why}, and {waits} due in it"
            yield Finding("paused_queues", Level.AMBER, text, remedy)
        else:
            text = f"queue {queue.name} is paused{why}; nothing is due in it"
            yield Finding("paused_queues", Level.GREEN, text, remedy)


def _paused_projects(work: Work) -> Iterator[Finding]:
    for each in work.pauses:
        note, everything = each.pause, each.project == EVERYTHING
        check = "paused_platform" if everything else "paused_project"
        what = "all projects are" if everything else f"project {each.project} is"
        why = f": {note.why}" if note.why else ""
        command = "--all" if everything else f"--project {each.project}"
        yield Finding(
            check,
            Level.AMBER,
            f"{what} paused by {note.by}{why}",
            f"Resume: tickwell projects resume {command}",
        )


def _recovery(platform: Platform) -> Iterator[Finding]:
    if platform.orphans:
        text = f"{_count(platform.orphans)} recorded as running, and no process is alive"
        yield Finding("recovery", Level.AMBER, text, "Any process recovers them: tickwell serve")


def _clocks(platform: Platform, alive: Sequence[Liveness]) -> Iterator[Finding]:
    offsets = [(each.worker.host, each.worker.clock_offset) for each in alive]
    offsets.append((platform.host, platform.clock_offset))
    offsets.sort(key=lambda each: abs(each[1]))
    # Of several processes on a host, the one that is furthest off.
    off = {host: offset for host, offset in offsets if abs(offset) > SKEWED}
    for host, offset in sorted(off.items()):
        where = f"host {host}" if host else "a host"
        side = "ahead of" if offset > 0 else "behind"
        text = f"the clock of {where} is {_seconds(abs(offset))} {side} the store's"
        yield Finding("clock", Level.AMBER, text, "Let both follow a time server (NTP)")
    if not off:
        yield Finding("clock", Level.GREEN, "all clocks are within a second of the store's")


def _links(links: Sequence[LinkState]) -> Iterator[Finding]:
    for link in links:
        if link.error is None:
            yield Finding(link.check, Level.GREEN, f"{link.name} answers")
        else:
            error = link.error.rstrip(".")  # drivers end their messages as they like
            text = f"{link.name} does not answer{f': {error}' if error else ''}; {link.effect}"
            yield Finding(link.check, link.level, text, link.remedy)


def _project(facts: Facts) -> Iterator[Finding]:
    gone, dead = facts.project.gone, facts.project.dead
    if gone:
        text = f"{len(gone)} paused as gone from the code: {', '.join(gone[:_NAMED])}"
        remedy = "If another program declares them, give each its own name: Scheduler(app='…')"
        yield Finding("declared_jobs", Level.AMBER, text, remedy)
    if dead:
        text = f"{dead:,} dead {'letter needs' if dead == 1 else 'letters need'} attention"
        yield Finding("dead_letters", Level.AMBER, text, "See: tickwell dead list --by-error")
    yield from _calendars(facts.project.calendars, to_datetime(facts.platform.now).date())


def _calendars(ending: Sequence[CalendarEnd], today: date) -> Iterator[Finding]:
    for each in ending[:_LISTED]:
        end = "ended" if each.last_day < today else "ends"
        text = f"calendar {each.name} {end} on {each.last_day}; jobs that use it fire on later days"
        remedy = f"Save it with new dates: tickwell calendars put {each.name} --date …"
        if each.has_country:
            remedy = f"Add the years to come: tickwell calendars renew {each.name}"
        yield Finding("calendars", Level.AMBER, text, remedy)
    if len(ending) > _LISTED:
        rest = len(ending) - _LISTED
        text = f"{rest:,} more {'calendar ends' if rest == 1 else 'calendars end'} soon"
        yield Finding("calendars", Level.AMBER, text, "See: tickwell calendars list")


def _scheduler(found: Sequence[Finding]) -> str:
    red = {each.check for each in found if each.level is Level.RED}
    if "process" in red:
        return "failing"
    return "stopped" if "planner" in red else "running"


def _redis(platform: Platform) -> bool | None:
    if platform.store.startswith("redis"):
        return platform.error is None
    return next((each.error is None for each in platform.links if each.check == "redis"), None)


def _late(due: int | None, now: int) -> int:
    return 0 if due is None else now - due


def _count(number: int, *, more: bool = False) -> str:
    """How many executions, with their verb."""
    if number == 1 and not more:
        return "1 execution is"
    return f"{number:,}{' or more' * more} executions are"


def _seconds(millis: int) -> str:
    """A duration for people, with tenths where they matter: 1.5s, 45s, 3h20m."""
    if millis < 10_000:
        return f"{millis / 1000:.1f}".removesuffix(".0") + "s"
    return format_duration(millis // 1000 * 1000)
