"""The options that describe a job: each with its place in the document."""

from __future__ import annotations

import asyncio
import inspect
import os
from dataclasses import dataclass
from typing import Annotated, Any

import typer

from tickwell.cli.command import connect

#: Names that are worth showing.
_MOST = 50


def complete_job(context: typer.Context, incomplete: str) -> list[str]:
    """Jobs whose name begins so; none when the store is not reachable, for a shell waits."""
    shared = {
        name: context.params.get(name) or os.environ.get(variable)
        for name, variable in (
            ("store", "TICKWELL_STORE"),
            ("server", "TICKWELL_SERVER"),
            ("api_key", "TICKWELL_KEY"),
            ("project", "TICKWELL_PROJECT"),
        )
    }
    try:
        return asyncio.run(_names(shared, incomplete))
    except Exception:  # noqa: BLE001 - no traceback in the middle of a command line
        return []


async def _names(shared: dict[str, str | None], incomplete: str) -> list[str]:
    connection = connect(**shared)
    try:
        page = await connection.client.list_jobs(search=incomplete or None, limit=_MOST)
    finally:
        await connection.close()
    return [job["name"] for job in page["items"] if job["name"].startswith(incomplete)]


_TRIGGER, _TARGET, _POLICY = "Trigger", "Target", "Policies"


@dataclass(frozen=True, slots=True)
class JobOption:
    """One option: how it is written, where its value goes, and what it means."""

    name: str
    path: str
    help: str
    panel: str
    kind: Any = str
    metavar: str | None = None

    def parameter(self) -> inspect.Parameter:
        """As the command takes it; None where it is not given."""
        flag = f"--{self.name.replace('_', '-')}"
        option = typer.Option(
            flag, help=self.help, metavar=self.metavar, rich_help_panel=self.panel
        )
        return inspect.Parameter(
            self.name,
            inspect.Parameter.KEYWORD_ONLY,
            default=None,
            annotation=Annotated[self.kind | None, option],
        )


def _trigger(name: str, path: str, help: str, kind: Any = str, metavar: str = "TEXT") -> JobOption:
    return JobOption(name, f"trigger.{path}", help, _TRIGGER, kind, _shown(kind, metavar))


def _target(name: str, path: str, help: str, kind: Any = str, metavar: str = "TEXT") -> JobOption:
    return JobOption(name, f"target.{path}", help, _TARGET, kind, _shown(kind, metavar))


def _policy(name: str, path: str, help: str, kind: Any = str, metavar: str = "TEXT") -> JobOption:
    return JobOption(name, path, help, _POLICY, kind, _shown(kind, metavar))


def _shown(kind: Any, metavar: str) -> str:
    return "" if kind is bool else metavar


JOB_OPTIONS = (
    _trigger("cron", "cron", "When, by a cron expression.", metavar="EXPR"),
    _trigger("dialect", "dialect", "Of --cron: cron, quartz, aws or celery.", metavar="NAME"),
    _trigger("every", "every", "When, by a period: 5m, 1h30m.", metavar="DURATION"),
    _trigger("when", "when", "In words: 'every weekday at 9 in Rome'.", metavar="PHRASE"),
    _trigger("at", "once", "When, once: a time, or +10m.", metavar="TIME"),
    _trigger("on_demand", "on_demand", "Only when it is triggered.", bool),
    _trigger(
        "tz", "tz", "The zone of --cron, --when, and of times without an offset.", metavar="ZONE"
    ),
    _trigger("after_finish", "after", "Count --every from the end of the run before.", bool),
    _trigger("start", "start", "No fire before this.", metavar="TIME"),
    _trigger("until", "until", "No fire after this.", metavar="TIME"),
    _trigger("max_runs", "max_runs", "Maximum number of executions.", int, "N"),
    _trigger("jitter", "jitter", "Each up to so much later.", metavar="DURATION"),
    _target("url", "http.url", "Call a webhook.", metavar="URL"),
    _target("method", "http.method", "GET, POST, PUT, DELETE or PATCH.", metavar="METHOD"),
    _target("header", "http.headers", "A header; may be repeated.", list[str], "'NAME: VALUE'"),
    _target("body", "http.body", "What to send; JSON, text, or @FILE.", metavar="BODY"),
    _target("sign_with", "http.sign_with", "A key to sign by; may be repeated.", list[str], "KEY"),
    _target("timeout", "http.timeout", "How long one attempt may take.", metavar="DURATION"),
    _target("call", "call.handler", "Call a Python handler.", metavar="HANDLER"),
    _target("celery", "celery.task", "Send a Celery task, as shop.tasks.charge.", metavar="TASK"),
    _target("args", "celery.args", "JSON list of its arguments, or @FILE.", metavar="JSON"),
    _target(
        "kwargs", "celery.kwargs", "JSON object of keyword arguments, or @FILE.", metavar="JSON"
    ),
    _target("celery_queue", "celery.queue", "Celery queue, as billing.", metavar="NAME"),
    _policy("payload", "payload", "JSON handed to the target, or @FILE.", metavar="JSON"),
    _policy("queue", "queue", "The lane that workers take it from.", metavar="NAME"),
    _policy("priority", "priority", "1 to 10; 5 is usual.", int, "N"),
    _policy("attempts", "retry.max_attempts", "How often it is tried.", int, "N"),
    _policy("backoff", "retry.backoff", "fixed, linear or exponential.", metavar="KIND"),
    _policy("retry_delay", "retry.delay", "Before the second attempt.", metavar="DURATION"),
    _policy("misfire", "misfire.policy", "After an outage: skip, latest or all.", metavar="RULE"),
    _policy(
        "overlap",
        "overlap",
        "While another runs: skip, queue_one, queue_all, cancel_running or allow.",
        metavar="RULE",
    ),
    _policy(
        "concurrency",
        "concurrency",
        "How many with this key run at once, in all jobs.",
        metavar="KEY=N",
    ),
    _policy("rate", "rate", "Maximum starts in any period: 100/1m.", metavar="N/PERIOD"),
    _policy(
        "rate_key",
        "rate_key",
        "What the rate counts, in all jobs: {payload.customer}.",
        metavar="KEY",
    ),
    _policy("delivery", "delivery", "at_least_once or at_most_once.", metavar="KIND"),
    _policy(
        "expires",
        "expires",
        "Skip a run that cannot start within this time, e.g. 10m",
        metavar="DURATION",
    ),
    _policy("pause_after", "pause_after", "Pause after N consecutive dead letters.", int, "N"),
    _policy("auto_remove", "auto_remove", "Delete it once it has finished.", bool),
    _policy("dedupe_key", "dedupe_key", "Adding it again is adding nothing.", metavar="KEY"),
    _policy("description", "description", "What it is for.", metavar="TEXT"),
    _policy("tag", "tags", "A tag; may be repeated.", list[str], "TAG"),
)
PARAMETERS = tuple(each.parameter() for each in JOB_OPTIONS)
