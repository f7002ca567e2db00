"""Adds that come at the same time are written together: one commit serves them all."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field

from tickwell.domain.job import Entry
from tickwell.errors import Conflict
from tickwell.ports.store import CatalogStore

#: Jobs that are written together at most.
_MOST = 100
#: Turns of the loop that a request takes from its socket to here.
_TURNS = 2


@dataclass(slots=True, eq=False)
class _Wish:
    """A job to be added, and who waits for it."""

    entry: Entry
    now: int
    answer: asyncio.Future[Entry] = field(
        default_factory=lambda: asyncio.get_running_loop().create_future()
    )


class InsertBatcher:
    """While one write is under way, what comes in gathers for the next: nobody waits for more."""

    def __init__(self) -> None:
        self._wishes: list[_Wish] = []
        self._writing: asyncio.Task[None] | None = None

    async def add(self, store: CatalogStore, entry: Entry, now: int) -> Entry:
        """Add one job, as `store.add_jobs` does."""
        wish = _Wish(entry, now)
        self._wishes.append(wish)
        if not self._is_writing():
            self._writing = asyncio.create_task(self._write(store))
        return await wish.answer

    def _is_writing(self) -> bool:
        """Whether somebody sees to it; a task of an event loop that has ended never will."""
        task = self._writing
        return task is not None and not task.done() and not task.get_loop().is_closed()

    async def _write(self, store: CatalogStore) -> None:
        while self._wishes:
            await self._settle()
            wishes = self._next()
            now = wishes[-1].now
            try:
                answers = await store.add_jobs([wish.entry for wish in wishes], now)
            except Exception as error:  # noqa: BLE001 - it goes to the callers
                if len(wishes) == 1 or not isinstance(error, Conflict):
                    _refuse(wishes, error)
                else:
                    await _one_by_one(store, wishes, now)
                continue
            for wish, answer in zip(wishes, answers, strict=True):
                _resolve(wish, answer)

    async def _settle(self) -> None:
        """Let those come in that have been sent already: turns of the loop that take no time."""
        known = 0
        while known < len(self._wishes) < _MOST:
            known = len(self._wishes)
            for _ in range(_TURNS):
                await asyncio.sleep(0)  # noqa: TID251 - no time passes

    def _next(self) -> list[_Wish]:
        """Those that can be written together: no name and no key comes twice among them."""
        chosen: list[_Wish] = []
        left: list[_Wish] = []
        seen: set[tuple[str, str, str | None]] = set()
        for wish in self._wishes:
            job = wish.entry.job
            marks = {(job.project, "name", job.name)}
            if job.dedupe_key is not None:
                marks.add((job.project, "key", job.dedupe_key))
            if len(chosen) < _MOST and not marks & seen:
                seen |= marks
                chosen.append(wish)
            else:
                left.append(wish)
        self._wishes = left
        return chosen


async def _one_by_one(store: CatalogStore, wishes: Sequence[_Wish], now: int) -> None:
    """One of them was refused, and with it all: each gets an answer of its own."""
    for wish in wishes:
        try:
            (answer,) = await store.add_jobs([wish.entry], now)
        except Exception as error:  # noqa: BLE001 - it goes to the callers
            _refuse([wish], error)
        else:
            _resolve(wish, answer)


def _resolve(wish: _Wish, answer: Entry) -> None:
    if not wish.answer.done():
        wish.answer.set_result(answer)


def _refuse(wishes: Sequence[_Wish], error: Exception) -> None:
    for wish in wishes:
        if not wish.answer.done():
            wish.answer.set_exception(error)
