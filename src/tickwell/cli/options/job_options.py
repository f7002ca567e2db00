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
    _trigger("cron", "cron", "Cron expression, e.g. '0 9 * * 1-5'.", metavar="EXPR"),
    _trigger(
        "dialect", "dialect", "Dialect of --cron: cron, quartz, aws or celery.", metavar="NAME"
    ),
    _trigger("every", "every", "Interval, e.g. 5m or 1h30m.", metavar="DURATION"),
    _trigger("when", "when", "Schedule in words: 'every weekday at 9 in Rome'.", metavar="PHRASE"),
    _trigger("rrule", "rrule", "RFC 5545 rule: 'FREQ=MONTHLY;BYDAY=-1FR'.", metavar="RULE"),
    _trigger("dtstart", "dtstart", "Where --rrule begins: 2026-01-30T16:00.", metavar="TIME"),
    _trigger("at", "once", "Run once: at a time, or +10m from now.", metavar="TIME"),
    _trigger("on_demand", "on_demand", "Run only when triggered.", bool),
    _trigger("tz", "tz", "Zone of --cron, --when, --rrule, times.", metavar="ZONE"),
    _trigger("after_finish", "after", "Count --every from the end of the previous run.", bool),
    _trigger("start", "start", "No fires before this time.", metavar="TIME"),
    _trigger("until", "until", "No fires after this time.", metavar="TIME"),
    _trigger("max_runs", "max_runs", "Maximum number of executions.", int, "N"),
    _trigger(
        "jitter", "jitter", "Maximum random delay of each fire, e.g. 30s.", metavar="DURATION"
    ),
    _target("url", "http.url", "Call a webhook.", metavar="URL"),
    _target("method", "http.method", "GET, POST, PUT, DELETE or PATCH.", metavar="METHOD"),
    _target("header", "http.headers", "HTTP header; may be repeated.", list[str], "'NAME: VALUE'"),
    _target("body", "http.body", "Request body: JSON, text, or @FILE.", metavar="BODY"),
    _target(
        "sign_with",
        "http.sign_with",
        "Key that signs the request; may be repeated.",
        list[str],
        "KEY",
    ),
    _target("timeout", "http.timeout", "Maximum duration of one attempt.", metavar="DURATION"),
    _target("call", "call.handler", "Call a Python handler.", metavar="HANDLER"),
    _target("celery", "celery.task", "Send a Celery task, e.g. shop.tasks.charge.", metavar="TASK"),
    _target("args", "celery.args", "JSON list of arguments, or @FILE.", metavar="JSON"),
    _target(
        "kwargs", "celery.kwargs", "JSON object of keyword arguments, or @FILE.", metavar="JSON"
    ),
    _target("celery_queue", "celery.queue", "Celery queue, e.g. billing.", metavar="NAME"),
    _policy("payload", "payload", "JSON payload for the target, or @FILE.", metavar="JSON"),
    _policy("queue", "queue", "Queue that workers take it from.", metavar="NAME"),
    _policy("priority", "priority", "Priority from 1 (low) to 10 (high); default 5.", int, "N"),
    _policy("attempts", "retry.max_attempts", "Maximum attempts, including the first.", int, "N"),
    _policy("backoff", "retry.backoff", "Backoff: fixed, linear or exponential.", metavar="KIND"),
    _policy("retry_delay", "retry.delay", "Delay before the second attempt.", metavar="DURATION"),
    _policy(
        "misfire",
        "misfire.policy",
        "Fires missed in an outage: skip, latest or all.",
        metavar="RULE",
    ),
    _policy(
        "overlap",
        "overlap",
        "skip, queue_one, queue_all, cancel_running or allow.",
        metavar="RULE",
    ),
    _policy(
        "concurrency",
        "concurrency",
        "Maximum running at once with this key, in all jobs.",
        metavar="KEY=N",
    ),
    _policy("rate", "rate", "Maximum starts in any period, e.g. 100/1m.", metavar="N/PERIOD"),
    _policy(
        "rate_key",
        "rate_key",
        "Key that --rate counts by, e.g. {payload.customer}.",
        metavar="KEY",
    ),
    _policy(
        "only_if",
        "only_if",
        "Handler or URL asked before each fire.",
        metavar="HANDLER|URL",
    ),
    _policy(
        "check_in",
        "check_in",
        "healthchecks.io URL or Sentry DSN that runs report to.",
        metavar="URL|DSN",
    ),
    _policy(
        "unless",
        "unless",
        "Skip if the same run is pending, running, or within 24h.",
        metavar="STATE",
    ),
    _policy(
        "unique_key",
        "unique_key",
        "Key that makes runs the same: {payload.customer}.",
        metavar="KEY",
    ),
    _policy(
        "debounce",
        "debounce",
        "Delay that each request for the same run renews: 30s.",
        metavar="DURATION",
    ),
    _policy(
        "debounce_max",
        "debounce_max",
        "Maximum wait of a debounced run, e.g. 5m.",
        metavar="DURATION",
    ),
    _policy("delivery", "delivery", "Delivery: at_least_once or at_most_once.", metavar="KIND"),
    _policy(
        "expires",
        "expires",
        "Skip a run that cannot start within this time, e.g. 10m",
        metavar="DURATION",
    ),
    _policy("pause_after", "pause_after", "Pause after N consecutive dead letters.", int, "N"),
    _policy("auto_remove", "auto_remove", "Delete the job once it has finished.", bool),
    _policy(
        "dedupe_key", "dedupe_key", "Key that makes adding the job again a no-op.", metavar="KEY"
    ),
    _policy("description", "description", "Description, for people.", metavar="TEXT"),
    _policy("tag", "tags", "Tag; may be repeated.", list[str], "TAG"),
)
PARAMETERS = tuple(each.parameter() for each in JOB_OPTIONS)
