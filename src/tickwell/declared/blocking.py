"""The scheduler for code without an event loop: scripts, Flask, Django."""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any, TypeVar, Unpack

from tickwell.declared.owner_loop import OwnerLoop
from tickwell.declared.policies import Policies
from tickwell.domain.change import Changed
from tickwell.domain.execution import Execution
from tickwell.domain.job import Entry, JobState
from tickwell.domain.note import Output, Progress
from tickwell.domain.target import Target
from tickwell.domain.trigger import Trigger
from tickwell.domain.trigger.duration import Duration

if TYPE_CHECKING:
    from tickwell.declared.named import Named

T = TypeVar("T")


class Blocking:
    """The scheduler's calls by name, each of which waits for its answer."""

    def __init__(self, named: Named, owner: OwnerLoop) -> None:
        self._named = named
        self._owner = owner

    def call(self, work: Callable[[], Coroutine[Any, Any, T]]) -> T:
        """Run it in the scheduler's loop: the one it lives in, or one in the background."""
        return self._owner.call(work)

    def stop(self) -> None:
        """Drain the engine if it runs in the background, close the store, end the thread."""
        self._owner.end_background()

    def trigger(self, name: str, payload: Any = None, *, key: str | None = None) -> Execution:
        """Run a job now. The same key again answers with the same execution."""
        return self.call(lambda: self._named.trigger(name, payload, key=key))

    def trigger_at(
        self, when: datetime, name: str, payload: Any = None, *, key: str | None = None
    ) -> Execution:
        """Run a job at an instant."""
        return self.call(lambda: self._named.trigger_at(when, name, payload, key=key))

    def trigger_in(
        self, delay: Duration, name: str, payload: Any = None, *, key: str | None = None
    ) -> Execution:
        """Run a job after a while."""
        return self.call(lambda: self._named.trigger_in(delay, name, payload, key=key))

    def add(
        self, name: str, trigger: Trigger | None, target: Target, **policies: Unpack[Policies]
    ) -> Entry:
        """Add a job that no code declares."""
        return self.call(lambda: self._named.add(name, trigger, target, **policies))

    def get(self, name: str) -> Entry:
        """One job."""
        return self.call(lambda: self._named.get(name))

    def list(
        self, *, search: str | None = None, state: JobState | None = None, tag: str | None = None
    ) -> Sequence[Entry]:
        """All jobs of the project, by name."""
        return self.call(lambda: self._named.list(search=search, state=state, tag=tag))

    def next_fires(self, name: str, count: int = 10) -> Sequence[datetime]:
        """The next fire times of a job as far as they are known."""
        return self.call(lambda: self._named.next_fires(name, count))

    def edit(
        self,
        name: str,
        *,
        trigger: Trigger | None = None,
        target: Target | None = None,
        **policies: Unpack[Policies],
    ) -> Entry:
        """Change what is given of a job."""
        return self.call(lambda: self._named.edit(name, trigger=trigger, target=target, **policies))

    def pause(
        self,
        name: str,
        *,
        why: str = "",
        until: datetime | Duration | None = None,
        by: str | None = None,
    ) -> Changed:
        """Stop a job from firing, for a while or until it is resumed."""
        return self.call(lambda: self._named.pause(name, why=why, until=until, by=by))

    def resume(self, name: str) -> Changed:
        """Let a job fire again."""
        return self.call(lambda: self._named.resume(name))

    def delete(self, name: str) -> Changed:
        """Take a job away; its history stays until retention ends."""
        return self.call(lambda: self._named.delete(name))

    def execution(self, id: str) -> Execution:
        """One execution with its attempts."""
        return self.call(lambda: self._named.execution(id))

    def wait(self, execution: Execution | str, within: Duration | None = None) -> Execution:
        """An execution once it has ended; as it stands when the time is over."""
        return self.call(lambda: self._named.wait(execution, within))

    def history(self, name: str, limit: int = 100) -> Sequence[Execution]:
        """The newest executions of a job."""
        return self.call(lambda: self._named.history(name, limit))

    def progress(self, id: str) -> Progress | None:
        """How far the attempt under way is, by its own account."""
        return self.call(lambda: self._named.progress(id))

    def output(self, id: str) -> Sequence[Output]:
        """What the attempts of an execution printed and logged, oldest attempt first."""
        return self.call(lambda: self._named.output(id))

    def cancel(self, id: str) -> None:
        """End an execution that has not started; ask the worker of one that runs."""
        self.call(lambda: self._named.cancel(id))

    def revive(self, id: str) -> None:
        """Let a dead execution run again under its id, with a new budget."""
        self.call(lambda: self._named.revive(id))
