"""The job behind a monitor."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress

from tickwell.domain.external import CHECK_INS, External
from tickwell.domain.gate import Overlap
from tickwell.domain.job import Job
from tickwell.domain.policy import DAY, HOUR, SECOND, Misfire, OnMisfire, Retry, Timeout
from tickwell.domain.trigger import Cron, Every, Trigger
from tickwell.domain.trigger.duration import Millis, parse_duration
from tickwell.domain.trigger.phrase import when
from tickwell.errors import InvalidInput, InvalidTrigger

#: What a monitor gets that a ping creates, as with healthchecks.io.
PERIOD, GRACE = DAY, HOUR
#: The shortest and the longest grace.
SHORTEST, LONGEST = SECOND, 30 * DAY


def period_trigger(period: int) -> Trigger:
    """A check-in is due when this time has passed since the last one."""
    return Every(Millis(period), after="finish")


def read_schedule(text: str, tz: str) -> Trigger:
    """The schedule that a person wrote: a period, a cron expression, or a phrase."""
    if text[:1].isdecimal():
        with suppress(InvalidTrigger):  # a cron expression may begin so as well
            return period_trigger(parse_duration(text))
    return when(text, tz=tz) if text[:1].isalpha() else Cron(text, tz=tz)


def monitor_job(
    name: str,
    trigger: Trigger,
    grace: int = GRACE,
    *,
    description: str = "",
    tags: Sequence[str] = (),
) -> Job:
    """A job that runs outside: its fire times wait for a check-in as long as the grace.

    Fire times that passed while no planner was running are skipped as misfires, not missed: the job
    could not check in either.
    """
    if not SHORTEST <= grace <= LONGEST:
        raise InvalidInput("must be between 1s and 30d", field="grace", hint="For example 5m")
    span = Millis(grace)
    return Job(
        id="",
        name=name,
        trigger=trigger,
        target=External(),
        queue=CHECK_INS,
        expires=span,
        timeout=Timeout(hard=span),
        retry=Retry(max_attempts=1),
        misfire=Misfire(policy=OnMisfire.SKIP, grace=span),
        overlap=Overlap.ALLOW,
        description=description,
        tags=tuple(tags),
    )
