"""The banner that a program prints on a terminal once its scheduler runs."""

from __future__ import annotations

import sys

from tickwell.domain.trigger.duration import format_duration
from tickwell.ports.store import CatalogStore
from tickwell.services.insights.overview import next_fires

_SECOND = 1000


async def print_banner(store: CatalogStore, url: str, project: str, now: int) -> None:
    """Tell a person that it runs and what fires next; a log file needs no banner."""
    if sys.stderr.isatty():
        sys.stderr.write(f"tickwell runs on {url}. {await _coming(store, project, now)}\n")


async def _coming(store: CatalogStore, project: str, now: int) -> str:
    fires = await next_fires(store, project, now, 1)
    if not fires:
        return "No job fires by itself. Ctrl-C drains and stops"
    rest = max(fires[0].instant - now, 0) // _SECOND * _SECOND
    when = f"in {format_duration(rest)}" if rest else "now"
    return f"Next to fire: {fires[0].job}, {when}. Ctrl-C drains and stops"
