"""Undo: what a bulk action changed, kept for a while so that it can be put back."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tickwell.domain.job import Entry, Pause
from tickwell.domain.policy import MINUTE
from tickwell.errors import NotFound
from tickwell.ids import new_id
from tickwell.ports.records import Record
from tickwell.services.access.actor import Actor, needs
from tickwell.services.access.permission import Permission
from tickwell.services.operations.bulk import Bulk, BulkOperations
from tickwell.services.operations.tools import Tools

KIND = "undo"
#: Milliseconds in which it can be undone.
KEPT = 10 * MINUTE


class UndoOperations:
    """Puts jobs that were paused or resumed back into the state that they were in."""

    def __init__(self, tools: Tools) -> None:
        self.tools = tools
        self.bulk = BulkOperations(tools)

    @needs(Permission.OPERATE)
    async def keep(self, actor: Actor, done: Bulk) -> str | None:
        """Remember what a pause or a resumption changed; what names it, None if that is nothing."""
        if not done.was:
            return None
        now = self.tools.clock.now()
        record = Record(
            kind=KIND,
            project=actor.project,
            key=new_id(now, self.tools.random),
            document={"groups": _groups(done.was)},
            expires_at=now + KEPT,
        )
        await self.tools.store.put_record(record, now)
        return record.key

    @needs(Permission.OPERATE)
    async def undo(self, actor: Actor, id: str) -> int:
        """Put back what was changed, once; how many jobs that are."""
        now, store = self.tools.clock.now(), self.tools.store
        found = await store.get_record(KIND, actor.project, id, now)
        if found is None or not await store.delete_record(KIND, actor.project, id):
            raise NotFound("undo", id)
        return sum([await self._put_back(actor, group, now) for group in found.document["groups"]])

    async def _put_back(self, actor: Actor, group: dict[str, Any], now: int) -> int:
        ids, pause = group["ids"], group["pause"]
        if pause is None:
            return (await self.bulk.resume(actor, ids, dry_run=False)).changed
        if pause["until"] is not None and pause["until"] <= now:
            return 0  # it would have been resumed by now
        return (await self.bulk.pause(actor, ids, dry_run=False, **pause)).changed


def _groups(entries: Sequence[Entry]) -> list[dict[str, Any]]:
    """Jobs by the pause that they were in, which for most is none."""
    found: dict[Pause | None, list[str]] = {}
    for entry in entries:
        found.setdefault(entry.cursor.pause, []).append(entry.job.id)
    return [
        {"ids": ids, "pause": None if pause is None else {"why": pause.why, "until": pause.until}}
        for pause, ids in found.items()
    ]
