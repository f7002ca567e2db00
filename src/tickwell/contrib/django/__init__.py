"""Django: the jobs of a project, runs in its transactions, and a backend for its tasks.

Everything is made when it is first asked for: settings and apps come before.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tickwell.contrib.django.backend import TickwellBackend as TickwellBackend
    from tickwell.contrib.django.project_scheduler import scheduler as scheduler

__all__ = ["TickwellBackend", "scheduler"]


def __getattr__(name: str) -> Any:
    if name == "scheduler":
        _set_up()
        from tickwell.contrib.django.project_scheduler import scheduler

        return scheduler
    if name == "TickwellBackend":
        from tickwell.contrib.django.backend import TickwellBackend

        return TickwellBackend
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def _set_up() -> None:
    """Load the project's apps in a process that nothing of Django started: a worker process."""
    import django
    from django.apps import apps

    if not apps.ready and not apps.loading:
        django.setup()
