"""Sends check-ins about runs to other monitoring, beside the runs and never in their way.

What the other side does harms no run: check-ins wait in this process, in bounds, and are given up
after a few tries. One that is given up is noticed there, as a run that did not report.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from tickwell.clock import Clock
from tickwell.domain.check_in import Sign, body_of, request_of
from tickwell.domain.event import AttemptsFinished, Event, Events, Recovered, Stopped
from tickwell.domain.execution import Claim, OutcomeKind, State
from tickwell.domain.job import copied
from tickwell.domain.outcome import Report
from tickwell.log import events as lines
from tickwell.log.headline import headline

if TYPE_CHECKING:
    from tickwell.executors.http.executor import HttpExecutor

#: Check-ins that wait in a process, those of one job, and jobs whose check-ins are sent at once.
MOST, MOST_OF_JOB, AT_ONCE = 10_000, 100, 20
#: Seconds before each further try.
RESTS = (1.0, 5.0, 15.0)
#: Seconds that a process which stops gives to what waits.
GOODBYE = 5.0
_IDLE = 3600.0
_SIGNS = {
    State.SUCCEEDED: Sign.SUCCEEDED,
    State.DEAD: Sign.FAILED,
    State.CANCELLED: Sign.FAILED,
}


@dataclass(frozen=True, slots=True)
class _CheckIn:
    claim: Claim
    sign: Sign
    log: str = ""
    seconds: float | None = None


class OutgoingCheckIns:
    """`engine.loop.Service`, fed by the runner and by the engine's events."""

    name = "check-ins"

    def __init__(self, clock: Clock, make_sender: Callable[[], HttpExecutor]) -> None:
        self.wake: Callable[[], None] = lambda: None
        self._clock = clock
        self._make_sender = make_sender
        self._sender: HttpExecutor | None = None
        #: By job: in order, so that no start overtakes an end.
        self._waiting: dict[str, deque[_CheckIn]] = {}
        self._count = 0
        self._tasks: dict[str, asyncio.Task[None]] = {}
        #: Jobs whose last check-in was given up, as it was logged.
        self._failing: set[str] = set()
        self._closing = asyncio.Event()
        self._leave: Callable[[], None] = lambda: None

    def listen(self, events: Events) -> None:
        """Hear what the engine tells, until it has stopped."""
        self._leave = events.subscribe(self.hear)

    def started(self, claim: Claim) -> None:
        """An attempt of a job that checks in begins."""
        self._add(_CheckIn(claim, Sign.STARTED))

    def tell(self, claim: Claim, sign: Sign, log: str = "") -> None:
        """Send a check-in of what no event is about."""
        self._add(_CheckIn(claim, sign, log))

    def hear(self, event: Event) -> None:
        """A listener of the engine's events."""
        if isinstance(event, Stopped):
            self._leave()
        if not isinstance(event, AttemptsFinished | Recovered):
            return
        for report in event.reports:
            claim = report.claim
            if claim.job.check_in is None or (sign := _sign_of(report)) is None:
                continue
            seconds = None
            if report.started_at is not None:
                seconds = max(report.ended_at - report.started_at, 0) / 1000
            self._add(_CheckIn(claim, sign, report.error or "", seconds))

    async def step(self) -> float:
        """Send what waits, that of each job in order, beside the loop."""
        for job in self._waiting:
            if len(self._tasks) >= AT_ONCE:
                break
            if job not in self._tasks:
                self._tasks[job] = asyncio.create_task(self._send_all(job))
        return _IDLE

    async def close(self) -> None:
        """What waits gets one try each, for a moment."""
        self._closing.set()
        try:
            async with asyncio.timeout(GOODBYE):
                while self._waiting:
                    await self.step()
                    await asyncio.wait(self._tasks.values())
        except TimeoutError:
            for task in self._tasks.values():
                task.cancel()
            await asyncio.gather(*self._tasks.values(), return_exceptions=True)
        if self._sender is not None:
            await self._sender.close()

    def _add(self, one: _CheckIn) -> None:
        lane = self._waiting.setdefault(one.claim.job.id, deque())
        if len(lane) >= MOST_OF_JOB or self._count >= MOST:
            self._note(one, "too many check-ins wait")
            return
        lane.append(one)
        self._count += 1
        self.wake()

    async def _send_all(self, job: str) -> None:
        lane = self._waiting[job]
        try:
            while lane:
                one = lane.popleft()
                self._count -= 1
                self._note(one, await self._send(one))
        finally:
            del self._tasks[job]
            if not lane:
                del self._waiting[job]
            self.wake()

    async def _send(self, one: _CheckIn) -> str:
        """Why it was given up; empty: it was taken."""
        why = ""
        for rest in (0.0, *RESTS):
            if why and self._closing.is_set():
                break
            await self._clock.wait(self._closing, rest)
            why = await self._try(one)
            if not why:
                break
        return why

    async def _try(self, one: _CheckIn) -> str:
        job, sign = one.claim.job, one.sign
        # The executor keeps what it works out by the id of a job: each request has one of its own.
        asked = copied(job, id=f"{job.id}/{sign}", target=request_of(job, sign))
        said = body_of(job, one.claim.id, sign, log=one.log, seconds=one.seconds)
        if self._sender is None:
            self._sender = self._make_sender()
        try:
            outcome = await self._sender.run(replace(one.claim, job=asked, payload=said))
        except Exception as error:  # noqa: BLE001 - whatever it is, it is no harm to the run
            return repr(error)
        if outcome.kind is OutcomeKind.SUCCEEDED:
            return ""
        return outcome.error or outcome.kind.value

    def _note(self, one: _CheckIn, why: str) -> None:
        """Log an outage once, and its end."""
        job = one.claim.job
        if not why and job.id in self._failing:
            self._failing.discard(job.id)
            lines.CHECK_INS_RECOVERED.log(job=job.name, project=job.project)
        elif why and job.id not in self._failing:
            if len(self._failing) >= MOST:
                self._failing.clear()
            self._failing.add(job.id)
            lines.CHECK_INS_FAILED.log(job=job.name, project=job.project, error=headline(why))


def _sign_of(report: Report) -> Sign | None:
    """What the end of an attempt says of its run; None: nothing yet, or nothing had started."""
    return _SIGNS.get(report.state) if report.may_have_started else None
