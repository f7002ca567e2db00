"""Events as log lines: the only place where the engine's doings get words."""

from __future__ import annotations

import logging

from tickwell.domain.event import (
    AttemptsFenced,
    AttemptsFinished,
    Event,
    JobPaused,
    ListenerFailed,
    Parked,
    ProcessEnded,
    Recovered,
    StepFailed,
    StepRecovered,
    Stopped,
    WorkerLost,
)
from tickwell.domain.execution import State

logger = logging.getLogger("tickwell")


def log_event(event: Event) -> None:
    """Say what an operator has to know. Successes make no line: there are thousands a second."""
    match event:
        case StepFailed(service=service, error=error, failures=failures, rest=rest):
            level = logging.WARNING if failures > 1 else logging.INFO
            logger.log(
                level, "%s failed (%d in a row), next try in %.1f s: %s",
                service, failures, rest, error,
            )
        case StepRecovered(service=service, failures=failures):
            logger.info("%s works again after %d failures", service, failures)
        case AttemptsFinished(reports=reports):
            for report in reports:
                if report.state is State.DEAD:
                    claim = report.claim
                    logger.warning(
                        "%s died (%s): execution %s: %s",
                        claim.job.name, report.reason, claim.id, _last_line(report.error),
                    )
        case AttemptsFenced(reports=reports):
            logger.warning("%d stale reports refused: taken over elsewhere", len(reports))
        case WorkerLost(worker=worker):
            logger.warning("worker %s is lost; recovering what it ran", worker)
        case Recovered(executions=executions):
            logger.warning("recovered %d executions", len(executions))
        case Parked(ability=ability, executions=count):
            logger.warning("parked %d executions: no live worker can run %s", count, ability)
        case JobPaused(job=job, why=why):
            logger.warning("paused job %s: %s", job, why)
        case ProcessEnded(pid=pid, code=code, rest=rest):
            logger.warning(
                "worker process %d ended with %d, a new one starts in %.1f s", pid, code, rest
            )
        case ListenerFailed(listener=listener, error=error):
            logger.error("listener %s raised %r", listener, error)
        case Stopped(released=released):
            logger.info("stopped, %d attempts given back", released)
        case _:
            logger.debug("%s", event)


def _last_line(error: str | None) -> str:
    return error.strip().splitlines()[-1] if error and error.strip() else "no error text"
