"""Outages as log lines: when something stops working, when it works again, once a minute between.

A store that is away for 14 s fails 100 to 200 steps of a process: all loops go on trying. That is
one state of one dependency, and a log that repeats it hides what else happens.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from tickwell.clock import StoreClock
from tickwell.domain.event import StepFailed, StepRecovered
from tickwell.errors import StoreError
from tickwell.log import events as lines

#: Seconds after an outage in which the next one is logged only if it is more than a hiccup, and
#: the failed steps that make it so: where every thirtieth reply is lost, each loop fails and works
#: again several times a second.
CALM = 60.0
HICCUP = 5
#: Seconds between two reminders of an outage that lasts, whatever the errors.
REMINDER = 60.0
#: Kinds of errors of one outage that are logged between two reminders.
MOST_KINDS = 2
_STORE = "the store"


@dataclass(slots=True)
class _Outage:
    since: float
    #: The loops that have failed and not worked since.
    services: set[str] = field(default_factory=set)
    steps: int = 0
    #: When it was logged last, and the types of errors since the reminder before.
    logged_at: float | None = None
    kinds: set[type] = field(default_factory=set)


class Outages:
    """What does not work now, by dependency: the store, or a loop for a reason of its own."""

    def __init__(self, monotonic: Callable[[], float] | None = None) -> None:
        self._monotonic = monotonic or StoreClock().monotonic
        self._outages: dict[str, _Outage] = {}
        self._ended_at: dict[str, float] = {}

    def failed(self, event: StepFailed) -> None:
        """Log it, unless it is known."""
        now, loop = self._monotonic(), event.service
        name = _STORE if isinstance(event.error, StoreError) else loop
        outage = self._outages.setdefault(name, _Outage(now))
        outage.services.add(loop)
        outage.steps += 1
        error = str(event.error) or type(event.error).__name__
        if self._is_news(name, outage, type(event.error), now):
            outage.logged_at = now
            outage.kinds.add(type(event.error))
            seconds = round(now - outage.since, 1)
            if name == _STORE:
                lines.STORE_UNAVAILABLE.log(error=error, seconds=seconds)
            else:
                lines.LOOP_FAILING.log(loop=name, error=error, seconds=seconds)
        else:
            lines.STEP_FAILED.log(
                loop=loop, failures=event.failures, retry_in=round(event.rest, 1), error=error
            )
        if not event.rest:  # it is not tried again, so no later event says that it works
            self._end(name, outage, loop)

    def recovered(self, event: StepRecovered) -> None:
        """Log it once nothing that failed is left."""
        lines.STEP_RECOVERED.log(loop=event.service, failures=event.failures)
        for name, outage in list(self._outages.items()):
            if event.service not in outage.services:
                continue
            if self._end(name, outage, event.service) and outage.logged_at is not None:
                # At the level of its beginning: who saw that has to see this.
                seconds = round(self._ended_at[name] - outage.since, 1)
                if name == _STORE:
                    lines.STORE_RECOVERED.log(seconds=seconds, failures=outage.steps)
                else:
                    lines.LOOP_RECOVERED.log(loop=name, seconds=seconds, failures=outage.steps)

    def _is_news(self, name: str, outage: _Outage, kind: type, now: float) -> bool:
        if outage.logged_at is not None:
            if now - outage.logged_at >= REMINDER:
                outage.kinds.clear()
                return True
            return kind not in outage.kinds and len(outage.kinds) < MOST_KINDS
        ended_at = self._ended_at.get(name)
        is_calm = ended_at is None or outage.since - ended_at > CALM
        return is_calm or outage.steps >= HICCUP

    def _end(self, name: str, outage: _Outage, service: str) -> bool:
        """Whether that was the last loop that had failed."""
        outage.services.discard(service)
        if outage.services:
            return False
        del self._outages[name]
        if outage.logged_at is not None:
            self._ended_at[name] = self._monotonic()
        return True
