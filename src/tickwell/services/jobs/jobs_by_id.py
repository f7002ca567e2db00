"""Jobs by their ids alone, as an execution or a callback has them."""

from __future__ import annotations

from collections.abc import Iterable

from tickwell.domain.job import Entry
from tickwell.ports.store import CatalogStore


async def jobs_by_id(store: CatalogStore, project: str, ids: Iterable[str]) -> dict[str, Entry]:
    """Those that are there, deleted ones too; never one that has such an id for its name."""
    wanted = set(ids)
    found = await store.get_jobs(project, sorted(wanted)) if wanted else []
    return {id: entry for entry in found if (id := entry.job.id) in wanted}
