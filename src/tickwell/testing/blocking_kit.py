"""The test kit for tests without an event loop, and for applications that bring their own."""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Sequence
from datetime import datetime
from typing import Any, Self, TypeVar

from tickwell.declared.read_models import Execution
from tickwell.domain.trigger.duration import Duration
from tickwell.scheduler import Scheduler
from tickwell.testing.kit import Kit

T = TypeVar("T")


class BlockingKit:
    """What the fixture `tickwell_blocking` gives to a test: a `Kit` whose calls block.

    The scheduler runs in the event loop that started it, such as that of FastAPI's `TestClient`;
    without one it runs in a background thread.
    """

    def __init__(self) -> None:
        #: The same for code with an event loop.
        self.kit = Kit()

    @property
    def scheduler(self) -> Scheduler:
        """The scheduler under test: an empty one, unless you `use` your own."""
        return self.kit.scheduler

    @property
    def job(self) -> Any:
        """Declares jobs on it."""
        return self.kit.job

    @property
    def now(self) -> datetime:
        """What time it is, in UTC."""
        return self.kit.now

    @property
    def eager(self) -> bool:
        """Whether a requested run has ended when the request is answered; no time passes."""
        return self.kit.eager

    @eager.setter
    def eager(self, chosen: bool) -> None:
        self.kit.eager = chosen

    def use(self, scheduler: Scheduler) -> None:
        """Run the jobs of your own scheduler: in memory and in virtual time, for this test."""
        self.kit.use(scheduler)

    def start_at(self, moment: datetime) -> None:
        """Choose the moment at which the test begins; before time moves."""
        self.kit.start_at(moment)

    def travel(self, duration: Duration, *, wait: bool = True) -> None:
        """Let time pass; all that comes due on the way runs, in order, each at its instant."""
        self._call(lambda: self.kit.travel(duration, wait=wait))

    def travel_to(self, moment: datetime) -> None:
        """Let time pass until a moment."""
        self._call(lambda: self.kit.travel_to(moment))

    def settle(self) -> None:
        """Run what is due now; no time passes."""
        self._call(self.kit.settle)

    def runs(self, name: str | None = None) -> Sequence[Execution[Any]]:
        """Executions of a job, or of all, in the order in which they started."""
        return self._call(lambda: self.kit.runs(name))

    def fires(self, name: str) -> Sequence[datetime]:
        """The fire times of a job that were run, in the order in which they started."""
        return self._call(lambda: self.kit.fires(name))

    def triggered(self, name: str) -> Sequence[Execution[Any]]:
        """Requested runs of a job, in the order of the requests, whether or not they have run."""
        return self._call(lambda: self.kit.triggered(name))

    def assert_ran(self, name: str, times: int | None = None) -> None:
        """Fail unless the job ran; with a number, exactly that many times."""
        self._call(lambda: self.kit.assert_ran(name, times))

    def assert_ran_at(self, name: str, *moments: datetime) -> None:
        """Fail unless the job ran for exactly these fire times."""
        self._call(lambda: self.kit.assert_ran_at(name, *moments))

    def assert_succeeded(self, name: str | None = None) -> None:
        """Fail unless every run of the job, or of all jobs, succeeded, and there was one."""
        self._call(lambda: self.kit.assert_succeeded(name))

    def assert_triggered(
        self, name: str, payload: Any = ..., *, times: int | None = None
    ) -> Sequence[Execution[Any]]:
        """Fail unless a run of the job was requested, with this payload; return the requests."""
        return self._call(lambda: self.kit.assert_triggered(name, payload, times=times))

    def _call(self, work: Callable[[], Coroutine[Any, Any, T]]) -> T:
        return self.scheduler.blocking.call(work)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        """Stop what runs, and give the scheduler its store and clock back."""
        self._call(self.kit.__aexit__)
        self.scheduler.blocking.stop()
        self.kit.restore()
