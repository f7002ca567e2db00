"""Outages as log lines: one when something stops working, and one when it works again.

A store that is away for 14 s fails 100 to 200 steps of a process: all loops go on trying. That is
one state of one dependency, and a log that repeats it hides what else happens.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import dataclass, field

from tickwell.clock import StoreClock
from tickwell.domain.event import StepFailed, StepRecovered
from tickwell.errors import StoreError

logger = logging.getLogger("tickwell")

#: Seconds after an outage in which the next one is told of only if it is more than a hiccup, and
#: the failed steps that make it so: where every thirtieth reply is lost, each loop fails and works
#: again several times a second.
CALM = 60.0
HICCUP = 5


@dataclass(slots=True)
class _Outage:
    since: float
    #: What was wrong, by the types of errors; another one is told of as well.
    kinds: set[type] = field(default_factory=set)
    #: The services that have failed and not worked since.
    services: set[str] = field(default_factory=set)
    steps: int = 0
    is_told: bool = False


class Outages:
    """What does not work now, by dependency: the store, or a service for a reason of its own."""

    def __init__(self, monotonic: Callable[[], float] | None = None) -> None:
        self._monotonic = monotonic or StoreClock().monotonic
        self._outages: dict[str, _Outage] = {}
        self._ended_at: dict[str, float] = {}

    def failed(self, event: StepFailed) -> None:
        """Tell of it, unless it is known."""
        name = "the store" if isinstance(event.error, StoreError) else event.service
        outage = self._outages.setdefault(name, _Outage(self._monotonic()))
        outage.services.add(event.service)
        outage.steps += 1
        if self._is_news(name, outage, event):
            outage.is_told = True
            outage.kinds.add(type(event.error))
            logger.warning("%s failed, and is tried again until it works: %s", name, event.error)
        else:
            logger.debug(
                "%s failed (%d in a row), next try in %.1f s: %s",
                event.service,
                event.failures,
                event.rest,
                event.error,
            )
        if not event.rest:  # it is not tried again, so no later event says that it works
            self._end(name, outage, event.service)

    def recovered(self, event: StepRecovered) -> None:
        """Tell of it once nothing that failed is left."""
        logger.debug("%s works again after %d failures", event.service, event.failures)
        for name, outage in list(self._outages.items()):
            if event.service not in outage.services:
                continue
            if self._end(name, outage, event.service) and outage.is_told:
                # At the level of its beginning: who saw that has to see this.
                logger.warning(
                    "%s works again after %.1f s and %d failed steps",
                    name,
                    self._ended_at[name] - outage.since,
                    outage.steps,
                )

    def _is_news(self, name: str, outage: _Outage, event: StepFailed) -> bool:
        ended_at = self._ended_at.get(name)
        is_calm = ended_at is None or outage.since - ended_at > CALM
        return type(event.error) not in outage.kinds and (is_calm or outage.steps >= HICCUP)

    def _end(self, name: str, outage: _Outage, service: str) -> bool:
        """Whether that was the last service that had failed."""
        outage.services.discard(service)
        if outage.services:
            return False
        del self._outages[name]
        if outage.is_told:
            self._ended_at[name] = self._monotonic()
        return True
