"""Keeps a project's limit of running attempts, exactly, in all workers together.

The permits are one record of the project: which lane of which worker has how many, and how many it
wants. A worker changes it by compare-and-set, starts no more than it has on record, and gives up
permits only while nothing runs on them. So the total never exceeds the limit, whichever process
crashes and whichever reply is lost. The permits of a worker that was declared lost are free again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Protocol

from tickwell.clock import Clock
from tickwell.domain.permits import PERMITS_KIND, divide
from tickwell.engine.claiming.lane import Lane
from tickwell.ports.records import Record
from tickwell.ports.store import HistoryStore, RecordStore

#: Seconds between two exchanges of a project that runs here, and between looks for lost holders.
EXCHANGE, LOOK = 0.2, 1.0
#: Times that a record which another worker changed meanwhile is read again.
TRIES = 5


class PermitStore(RecordStore, HistoryStore, Protocol):
    """What permits need of a store."""


class RunningPermits:
    """What this worker's lanes have of the permits of projects that are limited."""

    def __init__(self, store: PermitStore, clock: Clock, worker: Callable[[], str]) -> None:
        self._store = store
        self._clock = clock
        self._worker = worker
        #: By project and lane: how many may run, at most as many as are on record.
        self._allowed: dict[tuple[str, str], int] = {}
        self._exchanged_at: dict[str, float] = {}
        self._looked_at: dict[str, float] = {}
        #: Nothing more is started: all permits go back as attempts end.
        self.leaving = False

    def allowed(self, project: str, lane: Lane) -> int:
        """How many attempts of a limited project may run in a lane."""
        return self._allowed.get((project, lane.name), 0)

    def forget(self) -> None:
        """The worker was declared lost: its permits are free for others."""
        self._allowed.clear()
        self._exchanged_at.clear()

    def projects(self) -> set[str]:
        """Those that have permits here."""
        return {project for (project, _), count in self._allowed.items() if count}

    def is_active(self, project: str, lanes: Iterable[Lane]) -> bool:
        """Whether the project has permits here, or wants some."""
        now = self._clock.now()
        return any(
            self.allowed(project, lane) or self._needed(project, lane, now) for lane in lanes
        )

    def is_due(self, project: str) -> bool:
        """Whether the last exchange was long enough ago."""
        last = self._exchanged_at.get(project, float("-inf"))
        return self._clock.monotonic() - last >= EXCHANGE

    async def exchange(
        self,
        project: str,
        limit: int,
        lanes: Iterable[Lane],
        on_change: Callable[[], None],
        more: Mapping[str, int] | None = None,
    ) -> None:
        """Ask for what the lanes need, `more` than is in hand, and give up what they do not need.

        `on_change` is called whenever what is allowed has changed.
        """
        self._exchanged_at[project] = self._clock.monotonic()
        lanes, more = list(lanes), more or {}
        for _ in range(TRIES):
            now, worker = self._clock.now(), self._worker()
            record = await self._store.get_record(PERMITS_KIND, project, PERMITS_KIND, now)
            found: dict[str, list[int]] = {} if record is None else record.document["holders"]
            mine = {f"{worker}/{lane.name}": lane for lane in lanes}
            wants = {
                holder: min(self._needed(project, lane, now) + more.get(lane.name, 0), limit)
                for holder, lane in mine.items()
            }
            others = {holder: has for holder, has in found.items() if holder not in mine}
            if sum(want for _, want in others.values()) + sum(wants.values()) > limit:
                others = await self._living(project, others)
            # No await from here to the write: what is seated must not grow beyond it.
            if worker != self._worker():
                continue  # declared lost meanwhile: begin again as the next incarnation
            had = {holder: found.get(holder, (0, 0))[0] for holder in mine}
            parts = divide(limit, {each: want for each, (_, want) in others.items()} | wants, now)
            wished = {
                holder: max(parts.get(holder, 0), seated(project, lane))
                for holder, lane in mine.items()
            }
            has = {holder: min(had[holder], wished[holder]) for holder in mine}
            free = limit - sum(count for count, _ in others.values()) - sum(has.values())
            for holder in mine:
                taken = max(min(wished[holder] - has[holder], free), 0)
                has[holder] += taken
                free -= taken
            for holder, lane in mine.items():
                kept = min(self.allowed(project, lane), has[holder], parts.get(holder, 0))
                self._allowed[project, lane.name] = kept
            on_change()
            holders = others | {
                each: [has[each], wants[each]] for each in mine if has[each] or wants[each]
            }
            version = 0 if record is None else record.version
            written = holders == found or await self._store.put_record(
                Record(
                    kind=PERMITS_KIND,
                    project=project,
                    key=PERMITS_KIND,
                    document={"holders": holders},
                ),
                now,
                expected_version=version,
            )
            if written and worker == self._worker():
                for holder, lane in mine.items():
                    self._allowed[project, lane.name] = min(has[holder], parts.get(holder, 0))
                on_change()
                return

    def _needed(self, project: str, lane: Lane, now: int) -> int:
        """What runs of the project in a lane, is in hand, or was put off and comes back."""
        share = lane.shares.get(project)
        if share is None:
            return 0
        if self.leaving:
            return share.seated
        return max(share.seated, share.in_hand + share.expected(now))

    async def _living(self, project: str, others: dict[str, list[int]]) -> dict[str, list[int]]:
        """The holders without those whose worker is gone.

        Workers are read after the record, in which none stands that has not beaten before.
        """
        last = self._looked_at.get(project, float("-inf"))
        if self._clock.monotonic() - last < LOOK:
            return others
        self._looked_at[project] = self._clock.monotonic()
        alive = {one.worker.id for one in await self._store.list_workers() if not one.lost}
        return {each: has for each, has in others.items() if each.rpartition("/")[0] in alive}


def seated(project: str, lane: Lane) -> int:
    """Attempts of the project that take capacity of the lane."""
    share = lane.shares.get(project)
    return share.seated if share else 0
