"""Tickwell in front of a Celery app: `celery beat -S tickwell.celery:TickwellScheduler`.

Celery is imported only when used.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tickwell.celery.beat import TickwellScheduler

__all__ = ["TickwellScheduler"]


def __getattr__(name: str) -> Any:
    if name == "TickwellScheduler":
        from tickwell.celery.beat import TickwellScheduler

        return TickwellScheduler
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
