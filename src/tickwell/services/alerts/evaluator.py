"""The evaluator: looks at what rules watch for, in one process at a time.

A lease in the store names that process. It only saves work: two that evaluate at once write states
by compare-and-set, and the names of notices make each delivery one execution.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import replace

from tickwell.clock import Clock
from tickwell.domain.alert import (
    Alert,
    AlertState,
    Observed,
    Rule,
    close,
    delivered,
    judge,
)
from tickwell.domain.alert.rule import FIRING
from tickwell.domain.event import Event, Events, Stopped
from tickwell.errors import StoreCorrupt, StoreError, StoreRefused
from tickwell.ids import Random, new_id
from tickwell.log import events as lines
from tickwell.ports.records import Record
from tickwell.services.alerts.book import (
    PROJECT,
    STATE,
    Book,
    StoredState,
    read_book,
    state_record,
)
from tickwell.services.alerts.delivery import Delivery
from tickwell.services.alerts.observing import Look, ObservedStore, Observer
from tickwell.services.alerts.outcomes import (
    OutcomeNotes,
    Outcomes,
    forget_outcomes,
    read_outcomes,
)
from tickwell.services.every_record import every_record
from tickwell.services.executions.executions import Executions
from tickwell.services.health import HealthReader
from tickwell.services.projects.platform import PLATFORM

#: Seconds between two evaluations, and while one has left something over.
PERIOD, SOON = 15.0, 1.0
#: Milliseconds that a process evaluates for all without saying so again.
LEASE = 23_000
_LEASE, _HOLDER = "alert_lease", "evaluator"
#: By project and severity.
_Firing = dict[str, Counter[str]]


class Evaluator:
    """`engine.loop.Service`, fed by the engine's events. Projects without alerts cost nothing."""

    name = "alerts"

    def __init__(
        self,
        store: ObservedStore,
        clock: Clock,
        executions: Executions,
        health: HealthReader,
        random: Random,
        *,
        period: float = PERIOD,
        public_url: str = "",
    ) -> None:
        self.wake: Callable[[], None] = lambda: None
        self._store = store
        self._clock = clock
        self._random = random
        self._period = period
        self._notes = OutcomeNotes()
        self._health = health
        self._observer = Observer(store, health)
        self._delivery = Delivery(store, executions, public_url)
        self._owner = ""
        #: By project: why its rules could not be evaluated, as it was logged.
        self._failing: dict[str, str] = {}
        #: How many alerts fire, as this process wrote it last; None: another one did.
        self._firing: _Firing | None = None
        self._leave: Callable[[], None] = lambda: None

    def listen(self, events: Events) -> None:
        """Hear what the engine tells, until it has stopped."""
        self._leave = events.subscribe(self.hear)

    def hear(self, event: Event) -> None:
        """A listener of the engine's events."""
        if isinstance(event, Stopped):
            self._leave()
        self._notes.hear(event)

    async def step(self) -> float:
        """Evaluate all rules if no other process does; return how long to rest."""
        now = self._clock.now()
        records = every_record(self._store, PROJECT, PLATFORM, now)
        self._notes.projects = frozenset([record.key async for record in records])
        if not self._notes.projects:
            return self._period
        self._owner = self._owner or new_id(now, self._random)
        await self._notes.write(self._store, self._owner, now)
        if not await self._holds_lease(now):
            self._observer.keep(())
            self._firing = None
            return self._period
        await self._evaluate(sorted(self._notes.projects), now)
        return min(SOON, self._period) if self._observer.behind(now) else self._period

    async def close(self) -> None:
        """Leave what was noted, and the lease, to the other processes."""
        now = self._clock.now()
        if self._owner:
            await self._notes.write(self._store, self._owner, now)
            known = await self._lease(now)
            if known is not None and known.document["owner"] == self._owner:
                await self._store.delete_record(_LEASE, PLATFORM, _HOLDER)

    async def _lease(self, now: int) -> Record | None:
        return await self._store.get_record(_LEASE, PLATFORM, _HOLDER, now)

    async def _holds_lease(self, now: int) -> bool:
        known = await self._lease(now)
        if known is not None and self._is_of_another(known, now):
            return False
        lease = Record(
            kind=_LEASE,
            project=PLATFORM,
            key=_HOLDER,
            document={"owner": self._owner},
            expires_at=now + LEASE,
        )
        return await self._store.put_record(lease, now, known.version if known else 0)

    def _is_of_another(self, lease: Record, now: int) -> bool:
        # One that ends later than any can is of a clock that was set back since.
        is_valid = (lease.expires_at or 0) <= now + LEASE
        return is_valid and lease.document["owner"] != self._owner

    async def _evaluate(self, projects: list[str], now: int) -> None:
        outcomes, keys = await read_outcomes(self._store, now)
        kept, firing = set[tuple[str, str]](), _Firing()
        for project in projects:
            try:
                book = await read_book(self._store, project, now)
                kept |= {(project, rule.id) for rule in book.rules}
                fires = await self._evaluate_project(project, book, outcomes, now)
            except Exception as error:  # noqa: BLE001 - one project must not cost the others theirs
                self._note_failure(project, error)
            else:
                self._failing.pop(project, None)
                if fires:
                    firing[project] = fires
        await self._write_firing(firing, now)
        await forget_outcomes(self._store, keys)
        self._observer.keep(kept)

    async def _write_firing(self, firing: _Firing, now: int) -> None:
        if firing != self._firing:
            record = Record(kind=FIRING, project=PLATFORM, key=FIRING, document=firing)
            await self._store.put_record(record, now)
            self._firing = firing

    def _note_failure(self, project: str, error: Exception) -> None:
        """Log it when it changes; a store that is away fails the step, as it is away for all."""
        if isinstance(error, StoreError) and not isinstance(error, StoreRefused | StoreCorrupt):
            raise error
        why = repr(error)
        if self._failing.get(project) != why:
            self._failing[project] = why
            lines.ALERT_EVALUATION_FAILED.log(project=project, error=why)

    async def _evaluate_project(
        self, project: str, book: Book, outcomes: Outcomes, now: int
    ) -> Counter[str]:
        """How many alerts fire, by severity."""
        firing = Counter[str]()
        for rule in book.rules:
            stored = book.states.get(rule.id) or StoredState(
                rule=rule, state=AlertState(), version=0
            )
            settled = await self._deliver(project, stored, now)  # what a dead process left
            if settled is None:
                continue
            look = Look(
                project=project,
                rule=rule,
                state=settled.state,
                ended=outcomes.get(project, {}),
                windows=book.windows,
                now=now,
            )
            observed = await self._observer.look(look)
            is_silenced = _silenced(book, rule, {**settled.state.alerts, **observed})
            judged = judge(rule, settled.state, observed, now, is_silenced)
            firing[rule.severity] += _count_firing(judged, is_silenced)
            if judged != settled.state:
                written = await self._write(project, replace(settled, state=judged), now)
                if written is not None:
                    await self._deliver(project, written, now)
        for id in book.states.keys() - {rule.id for rule in book.rules}:
            await self._close(project, book.states[id], now)
        return +firing

    async def _deliver(self, project: str, stored: StoredState, now: int) -> StoredState | None:
        """Deliver what is owed, then write that; None: another process has changed the state."""
        if not stored.state.owed:
            return stored
        await self._delivery.deliver(project, stored, now)
        return await self._write(project, replace(stored, state=delivered(stored.state)), now)

    async def _write(self, project: str, stored: StoredState, now: int) -> StoredState | None:
        """The state with its new version; None: another process has changed it."""
        written = await self._store.put_record(state_record(project, stored), now, stored.version)
        return replace(stored, version=stored.version + 1) if written else None

    async def _close(self, project: str, stored: StoredState, now: int) -> None:
        """Of a rule that was deleted: say that what was reported is over, and forget it."""
        found: StoredState | None = stored
        if stored.state.alerts:
            found = await self._write(project, replace(stored, state=close(stored.state, now)), now)
        if found is not None and await self._deliver(project, found, now) is not None:
            await self._store.delete_record(STATE, project, stored.rule.id)


def _count_firing(state: AlertState, is_silenced: Callable[[str], bool]) -> int:
    """As the list of alerts has them: what is silenced is not counted."""
    return sum(1 for key, each in state.alerts.items() if each.is_firing and not is_silenced(key))


def _silenced(
    book: Book, rule: Rule, about: Mapping[str, Alert | Observed | None]
) -> Callable[[str], bool]:
    return lambda subject: book.is_silenced(rule.id, subject, about.get(subject))
