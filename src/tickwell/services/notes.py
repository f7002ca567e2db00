"""Notes of attempts, as people read them: how far one is, and what it printed and logged."""

from __future__ import annotations

from collections.abc import Sequence

from tickwell.domain.note import OUTPUT, PROGRESS, Output, Progress, output_key, outputs_of
from tickwell.ports.store import RecordStore


async def read_progress(store: RecordStore, project: str, id: str, now: int) -> Progress | None:
    """How far the newest attempt of an execution is, by its own account."""
    record = await store.get_record(PROGRESS, project, id, now)
    return None if record is None else Progress(**record.document)


async def read_attempt_output(
    store: RecordStore, project: str, id: str, attempt: int, now: int
) -> Output | None:
    """What one attempt printed and logged so far."""
    records = await store.list_records(OUTPUT, project, output_key(id, attempt), now)
    found = outputs_of((record.key, record.document) for record in records)
    return found[0] if found else None


async def read_output(store: RecordStore, project: str, id: str, now: int) -> Sequence[Output]:
    """What the attempts of an execution printed and logged, oldest attempt first."""
    records = await store.list_records(OUTPUT, project, f"{id}/", now)
    return outputs_of((record.key, record.document) for record in records)
