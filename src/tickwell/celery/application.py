"""The Celery app: one task, which runs the execution that a message names."""

from __future__ import annotations

import os
from dataclasses import replace
from functools import cache
from typing import TYPE_CHECKING, Any

from tickwell.cli.serving.serve import load_scheduler
from tickwell.errors import InvalidSetting, TickwellError
from tickwell.ids import is_id
from tickwell.observe.traces import start_sdk
from tickwell.scheduler import Scheduler
from tickwell.wiring import no_celery

if TYPE_CHECKING:
    from celery import Celery

    from tickwell.celery.worker_bridge import StartTraces


@cache
def configured_app() -> Celery:
    """The app of `celery -A tickwell.celery`: one for each process."""
    try:
        return _make_app(load_scheduler(os.environ.get("TICKWELL_APP")), start_sdk)
    except TickwellError as error:
        import click

        if click.get_current_context(silent=True) is None:
            raise
        raise SystemExit(f"tickwell: {error}") from None  # of a command: one sentence


def make_app(scheduler: Scheduler) -> Celery:
    """A Celery app whose workers run the executions of a scheduler."""
    return _make_app(scheduler, None)


def _make_app(scheduler: Scheduler, start_traces: StartTraces | None) -> Celery:
    """Without traces: a module with an app of its own sets up its SDK itself."""
    settings = replace(scheduler.settings, engine="celery")
    if settings.store.startswith("memory:"):
        raise InvalidSetting(
            "Celery's workers cannot see what a process keeps in memory",
            field="store",
            hint="Choose another store, as sqlite:///jobs.db",
        )
    try:
        from tickwell.brokers.celery import PREFIX, TASK, make_celery
        from tickwell.celery.worker_bridge import WorkerBridge, no_traces
    except ModuleNotFoundError as error:
        raise no_celery(error, "engine") from error
    from kombu import Queue

    app = make_celery(settings.broker)
    app.conf.update(
        task_queues=[Queue(PREFIX + name, routing_key=PREFIX + name) for name in settings.queues],
        task_default_queue=PREFIX + settings.queues[0],
        worker_prefetch_multiplier=1,
        broker_connection_retry_on_startup=True,
        broker_connection_max_retries=None,
        # After a lost connection: messages are hints, and what runs holds its claim.
        worker_enable_prefetch_count_reduction=False,
        # What a handler prints is kept with its attempt.
        worker_redirect_stdouts=False,
    )
    if settings.broker.startswith("redis"):
        app.conf.broker_transport = "tickwell.celery.redis_transport:Transport"
    bridge = WorkerBridge(scheduler, start_traces or no_traces)
    bridge.connect(app)

    # No limits of Celery's: an attempt has its job's own. No retries: those are new executions.
    @app.task(name=TASK, acks_late=True, max_retries=0, ignore_result=True)  # type: ignore[untyped-decorator]
    def execute(id: Any) -> None:
        if isinstance(id, str) and is_id(id):  # else a store that cannot read it is asked forever
            bridge.run(id)

    return app
