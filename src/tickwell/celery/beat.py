"""A scheduler for `celery beat` that plans and records on a store of Tickwell's.

`celery -A shop beat -S tickwell.celery:TickwellScheduler` is all that changes: the entries of the
app become jobs, and planner and worker run in the beat process. Several beats are safe.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from celery.beat import Scheduler as BeatScheduler
from celery.utils.log import get_logger

import tickwell.wiring  # noqa: F401  # whole before SIGTERM can interrupt the start
from tickwell.celery.app_sender import AppSender
from tickwell.celery_beat.app import entry_of
from tickwell.celery_beat.jobs import jobs_of
from tickwell.cli.config.configuration import configure
from tickwell.declared.internals import internals
from tickwell.domain.celery import Celery as Target
from tickwell.domain.target import rule_for
from tickwell.domain.trigger.duration import Millis
from tickwell.errors import InvalidInput, TickwellError
from tickwell.scheduler import Scheduler

if TYPE_CHECKING:
    from celery import Celery

logger = get_logger("celery.beat")
#: The lane of these jobs: only a beat has the app whose connection sends them.
QUEUE = "celery-beat"


class TickwellScheduler(BeatScheduler):  # type: ignore[misc]  # Celery has no types
    """Beat's schedule as jobs: one record and one message per fire time, however many beats run.

    The store is `tickwell_store` in Celery's configuration, else `TICKWELL_STORE`, else
    `tickwell.db` in the current folder.
    """

    _engine: Scheduler | None = None

    def setup_schedule(self) -> None:
        """Bring the app's entries into the store, and begin to plan and send."""
        self.install_default_entries(self.schedule)
        try:
            self._engine = make_engine(self.app, {**self.schedule, **self.app.conf.beat_schedule})
            self._engine.start_in_background()
        except TickwellError as error:
            errors = error.all if isinstance(error, InvalidInput) else (error,)
            raise SystemExit("\n".join(f"tickwell: {each}" for each in errors)) from error
        logger.info("tickwell: plans and sends on %s", self._engine.store_url)

    def tick(self, *_: Any, **__: Any) -> float:
        """Nothing is left to do here: the engine waits for each instant by itself."""
        interval: float = self.max_interval
        return interval

    def close(self) -> None:
        """Drain; called by SIGTERM's handler, and once more at the end."""
        engine, self._engine = self._engine, None
        if engine is not None:
            engine.blocking.stop()
        super().close()

    @property
    def info(self) -> str:
        """A line of beat's banner."""
        return "    . tickwell -> exactly one record per fire time"


def make_engine(app: Celery, entries: Mapping[str, Any]) -> Scheduler:
    """A scheduler on the store that the app names, which declares its entries as jobs."""
    found = configure()
    jobs = jobs_of([entry_of(app, name, entries[name]) for name in sorted(entries)], wait=False)
    # What the app itself schedules needs no further permission.
    rules = [rule_for("default", job.target.task) for job in jobs if isinstance(job.target, Target)]
    store = app.conf.get("tickwell_store") or found.settings.store
    # Beat sends its tasks itself, also where `tickwell serve` leaves executions to Celery.
    settings = replace(
        found.settings,
        store=store,
        queues=(QUEUE,),
        engine="tickwell",
        celery_tasks=(*found.settings.celery_tasks, *rules),
    )
    with found.blaming():
        scheduler = Scheduler(store, app=f"celery-beat {app.main or 'app'}", settings=settings)
    internals(scheduler).executor = AppSender(app, settings.celery_tasks)
    for job in jobs:
        scheduler.declare(
            job.name,
            job.trigger,
            job.target,
            queue=QUEUE,
            expires=None if job.expires is None else Millis(job.expires),
            overlap=job.overlap,
            tags=job.tags,
        )
    return scheduler
