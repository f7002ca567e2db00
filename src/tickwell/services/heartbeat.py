"""The heartbeat: tells an outside monitor that this installation is well, or what is wrong.

It needs no store to say so, and its silence says that no process is left.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from tickwell.clock import NEVER, Clock
from tickwell.domain.check_in import Sign
from tickwell.domain.execution import Claim, Kind
from tickwell.domain.health import Level
from tickwell.domain.job import Job
from tickwell.domain.target import Call
from tickwell.domain.trigger import Every
from tickwell.ids import Random, new_id
from tickwell.services.health import HealthReader
from tickwell.services.projects.platform import PLATFORM

#: Seconds between two looks, between two heartbeats, and for which health must be red.
LOOK, PERIOD, PATIENCE = 15.0, 60.0, 60.0
_NAME = "heartbeat"


class Teller(Protocol):
    """Sends check-ins."""

    def tell(self, claim: Claim, sign: Sign, log: str = "") -> None:
        """Send one, soon; a failure is the teller's to handle."""
        ...


class Heartbeat:
    """`engine.loop.Service`: succeeds once a minute while health is not red, and fails else."""

    name = _NAME

    def __init__(
        self, url: str, clock: Clock, health: HealthReader, teller: Teller, random: Random
    ) -> None:
        self.wake: Callable[[], None] = lambda: None
        self._clock = clock
        self._health = health
        self._teller = teller
        self._random = random
        self._job = Job(
            id=_NAME,
            name=_NAME,
            project=PLATFORM,
            trigger=Every("1m"),
            target=Call(_NAME),
            check_in=url,
        )
        self._told_at = self._red_since = float("-inf")
        self._is_red = False

    async def step(self) -> float:
        """Look at the health of all that runs; tell it if it is time."""
        health = await self._health.platform()
        is_red, now = health.shared_level is Level.RED, self._clock.monotonic()
        if is_red and not self._is_red:
            self._red_since = now
        self._is_red = is_red
        if now - self._told_at < PERIOD or (is_red and now - self._red_since < PATIENCE):
            return LOOK
        self._told_at = now
        self._teller.tell(
            self._claim(), Sign.FAILED if is_red else Sign.SUCCEEDED, "\n".join(health.shared_red)
        )
        return LOOK

    def _claim(self) -> Claim:
        now = self._clock.now()
        return Claim(
            id=new_id(now, self._random),
            job=self._job,
            kind=Kind.FIRE,
            attempt=1,
            charged=1,
            lost=0,
            returned=0,
            fire_time=now,
            run_at=now,
            payload=None,
            deadline=NEVER,
            worker="",
            claim_id="",
        )
