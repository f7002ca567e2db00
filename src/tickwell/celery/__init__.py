"""Tickwell for people with Celery: its workers as the engine, and the end of Celery beat.

`celery -A tickwell.celery worker` runs what `TICKWELL_APP` names, by the settings of the process.
A module that makes its own app calls `make_app(scheduler)`. In front of an existing app:
`celery beat -S tickwell.celery:TickwellScheduler`. Celery is imported only when used.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from celery import Celery

    from tickwell.celery.beat import TickwellScheduler
    from tickwell.scheduler import Scheduler

__all__ = ["TickwellScheduler", "make_app"]


def make_app(scheduler: Scheduler) -> Celery:
    """A Celery app whose workers run the executions of a scheduler: `celery -A module worker`."""
    from tickwell.celery.application import make_app as make

    return make(scheduler)


def __getattr__(name: str) -> Any:
    if name == "app":
        from tickwell.celery.application import configured_app

        return configured_app()
    if name == "TickwellScheduler":
        from tickwell.celery.beat import TickwellScheduler

        return TickwellScheduler
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
