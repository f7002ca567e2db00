"""Renders a snapshot on a screen of limited height."""

from __future__ import annotations

from collections.abc import Sequence

from tickwell.cli.options.times import say_distance, say_span, say_time, say_took
from tickwell.cli.output.screen import Screen
from tickwell.cli.output.views import Document, say_error, say_roles
from tickwell.cli.top.snapshot import FAILURES, RUNNING, Snapshot
from tickwell.domain.health import Level
from tickwell.services.documents import instant_text

#: Problems that are told; the doctor tells all.
_PROBLEMS = 3
#: Lines that are not rows of workers, queues or running executions.
_OTHER = 23 + FAILURES
#: Rows of each table at least, however low the screen is.
_FEWEST = 3


def show(screen: Screen, found: Snapshot, lines: int | None = None, note: str = "") -> None:
    """Write it; on a screen of so many lines, tables are cut so that all of them are seen."""
    screen.record(_head(found, note))
    if found.metrics is None:
        return
    most = None if lines is None else max((lines - _OTHER) // 3, _FEWEST)
    _table(
        screen,
        "Workers",
        ("PROCESS", "ROLES", "STATE", "BUSY", "QUEUES", "SEEN"),
        [_worker(each, found) for each in sorted(found.workers, key=rank)],
        soft=("PROCESS", "QUEUES"),
        most=most,
        empty="No workers. Start one: tickwell serve",
    )
    _table(
        screen,
        "Queues",
        (
            "QUEUE",
            "STATE",
            "QUEUED",
            "WAITING",
            "RUNNING",
            "RATE/S",
            "ERRORS/S",
            "P50",
            "P95",
            "P99",
        ),
        _queues(found),
        soft=("QUEUE",),
        most=most,
        empty="No queues",
    )
    full = "+" if len(found.running) == RUNNING else ""
    _table(
        screen,
        f"Running ({len(found.running)}{full})",
        ("ELAPSED", "JOB", "QUEUE", "ATTEMPT", "EXECUTION"),
        [_running(each, found.now) for each in sorted(found.running, key=_since)],
        soft=("JOB", "QUEUE"),
        most=most,
        empty="Nothing is running",
    )
    _table(
        screen,
        "Latest failures",
        ("ENDED", "JOB", "ERROR"),
        [_failure(each, found.now) for each in found.failures],
        soft=("JOB", "ERROR"),
        most=None,
        empty="No dead letters",
    )


def _head(found: Snapshot, note: str) -> list[tuple[str, str]]:
    told = found.problems[:_PROBLEMS]
    problems = [". ".join(filter(None, (each["text"], each["remedy"]))) for each in told]
    if len(found.problems) > len(told):
        problems.append(f"and {len(found.problems) - len(told)} more: tickwell doctor")
    head = [
        ("time", say_time(instant_text(found.now)).partition(".")[0] + " UTC"),
        ("note", note),
        ("state", found.problems[0]["level"] if found.problems else Level.GREEN),
        ("problems", "\n".join(problems)),
    ]
    if (metrics := found.metrics) is None:
        return head
    return [
        *head,
        ("rate/s", _windows(metrics["rate"])),
        ("errors/s", _windows(metrics["errors"])),
        ("duration", _percentiles(metrics["duration"])),
        ("lateness", _percentiles(metrics["lateness"])),
        ("queued", f"{metrics['queue_depth']:,}"),
    ]


def _table(
    screen: Screen,
    title: str,
    headings: Sequence[str],
    rows: Sequence[Sequence[str]],
    *,
    soft: Sequence[str],
    most: int | None,
    empty: str,
) -> None:
    screen.heading(title)
    screen.table(headings, rows[:most], soft=soft)
    if not rows:
        screen.data(empty)
    elif most is not None and len(rows) > most:
        screen.data(f"and {len(rows) - most} more")


def rank(worker: Document) -> tuple[bool, bool]:
    """Live processes first, and workers first among them: a low screen cuts the others."""
    return worker["state"] != "alive", not worker["capacity"]


def _worker(worker: Document, found: Snapshot) -> tuple[str, ...]:
    process = f"{worker['host']}:{worker['pid']}" if worker["host"] else worker["id"]
    busy = f"{found.busy(worker)}/{worker['capacity']}" if worker["capacity"] else ""
    seen = say_distance(worker["seen_at"], found.now)
    return process, say_roles(worker), worker["state"], busy, ", ".join(worker["queues"]), seen


def _queues(found: Snapshot) -> list[tuple[str, ...]]:
    """All that have work, workers, or ended executions in the last 15 minutes."""
    queues = {each["name"]: each for each in found.queues}
    of_queues = found.metrics["queues"] if found.metrics else []
    ended = {each["name"]: each for each in of_queues if each["name"] is not None}
    return [_queue(name, queues.get(name), ended.get(name)) for name in sorted({*queues, *ended})]


def _queue(name: str, queue: Document | None, ended: Document | None) -> tuple[str, ...]:
    depth = queue["depth"] if queue else {}
    state = "paused" if queue and queue["pause"] else "active"
    counts = (
        depth.get("queued", 0) + depth.get("blocked", 0),
        depth.get("waiting", 0) + depth.get("parked", 0),
        depth.get("running", 0),
    )
    took = ended["duration"] if ended else {}
    return (
        name,
        state,
        *(f"{count:,}" for count in counts),
        f"{ended['rate']:g}" if ended else "0",
        f"{ended['errors']:g}" if ended else "0",
        *(_span(took.get(each)) for each in ("p50", "p95", "p99")),
    )


def _running(execution: Document, now: int) -> tuple[str, ...]:
    return (
        say_took(_since(execution), instant_text(now)),
        execution["job_name"] or execution["job_id"],
        execution["queue"],
        str(execution["attempt"]),
        execution["id"],
    )


def _failure(execution: Document, now: int) -> tuple[str, ...]:
    error = say_error(execution["error"]) or execution["reason"] or ""
    ended = say_distance(execution["ended_at"], now)
    return ended, execution["job_name"] or execution["job_id"], error


def _since(execution: Document) -> str:
    """When it started; a claimed one that has not is due then."""
    return str(execution["started_at"] or execution["run_at"])


def _windows(rates: Document) -> str:
    return "   ".join(f"{name.removesuffix('min')} min {rate:g}" for name, rate in rates.items())


def _percentiles(found: Document) -> str:
    return "   ".join(f"{name} {_span(value)}" for name, value in found.items())


def _span(millis: int | None) -> str:
    return "-" if millis is None else say_span(millis)
