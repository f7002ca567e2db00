"""Events as log lines: the only place where the engine's doings get words."""

from __future__ import annotations

import logging
import re
from collections.abc import Callable
from typing import Any

from tickwell.domain import event as events
from tickwell.domain.execution import OutcomeKind, State
from tickwell.domain.outcome import Report
from tickwell.observe.outages import Outages

logger = logging.getLogger("tickwell")

_CONTROLS = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029]")
_RETRIED = frozenset({OutcomeKind.FAILED, OutcomeKind.TIMED_OUT})

#: Level and words for each event that an operator has to know of. A success makes no line: there
#: are thousands a second.
_WORDS: dict[type, tuple[int, Callable[[Any], str]]] = {
    events.JobUnreadable: (
        logging.ERROR,
        lambda e: f"job {e.job} is left out for a minute, this process cannot read it: {e.why}",
    ),
    events.AttemptsFenced: (
        logging.WARNING,
        lambda e: f"{len(e.reports)} stale reports refused: their attempts were taken over",
    ),
    events.WorkerLost: (
        logging.WARNING,
        lambda e: f"worker {e.worker} is lost; recovering what it ran",
    ),
    events.Recovered: (logging.WARNING, lambda e: f"recovered {len(e.executions)} executions"),
    events.Parked: (
        logging.WARNING,
        lambda e: f"parked {e.executions} executions that need {e.ability}: {e.reason}",
    ),
    events.JobPaused: (logging.WARNING, lambda e: f"paused job {e.job}: {e.why}"),
    events.JobOver: (
        logging.WARNING,
        lambda e: f"job {e.job} has no fire time left; it is recorded as finished",
    ),
    events.ProcessEnded: (
        logging.WARNING,
        lambda e: f"worker process {e.pid} ended with {e.code}, another starts in {e.rest:.1f} s",
    ),
    events.ListenerFailed: (logging.ERROR, lambda e: f"listener {e.listener} raised {e.error!r}"),
    events.Stopped: (logging.INFO, lambda e: f"stopped, {e.released} attempts given back"),
}


class EventLog:
    """The log lines of one process's events."""

    def __init__(self) -> None:
        self._outages = Outages()

    def hear(self, event: events.Event) -> None:
        """Write the line of an event, if it has one."""
        if isinstance(event, events.StepFailed):
            self._outages.failed(event)
        elif isinstance(event, events.StepRecovered):
            self._outages.recovered(event)
        else:
            log_event(event)


def log_event(event: events.Event) -> None:
    """Write the line of an event that says everything by itself, if it has one."""
    if isinstance(event, events.AttemptsFinished):
        for report in event.reports:
            if report.state is State.DEAD:
                logger.warning(_spelled(_died(report)))
            elif report.outcome in _RETRIED and report.state is State.WAITING:
                logger.info(_spelled(_again(report)))
        return
    level, words = _WORDS.get(type(event), (logging.DEBUG, repr))
    if logger.isEnabledFor(level):
        logger.log(level, _spelled(words(event)))


def _spelled(text: str) -> str:
    """The line with every control character spelled out that is in names and errors of others.

    A log is read in a terminal, which they would steer: ESC, and since C1 has the same, U+009B.
    """
    if text.isprintable():
        return text
    return _CONTROLS.sub(lambda found: found[0].encode("unicode_escape").decode(), text)


def _died(report: Report) -> str:
    claim = report.claim
    # Part of it may be a receiver's: a line of it must not pass for one of ours.
    lines = "".join(f"\n    {line}" for line in (report.error or "").splitlines())
    return f"{claim.job.name} died ({report.reason}), execution {claim.id}:{lines}"


def _again(report: Report) -> str:
    claim, rest = report.claim, (report.run_at - report.ended_at) / 1000
    return (
        f"{claim.job.name} {report.outcome}, attempt {claim.attempt} of execution {claim.id},"
        f" again in {rest:.1f} s: {_cause(report)}"
    )


def _cause(report: Report) -> str:
    error = (report.error or "").strip()
    return error.splitlines()[-1] if error else "no error text"
