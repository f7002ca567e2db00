"""Jobs on PostgreSQL."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tickwell.domain.job import Entry
from tickwell.errors import StoreError
from tickwell.stores.postgres.database import Database
from tickwell.stores.postgres.errors import is_taken
from tickwell.stores.sql.server.adding_jobs import job_row, moving_row
from tickwell.stores.sql.server.catalog import SqlCatalog


class PostgresCatalog(SqlCatalog[Database]):
    """`ports.store.CatalogStore`. Jobs that are all new take one statement instead of six."""

    async def _added(self, entries: Sequence[Entry], documents: list[str]) -> dict[str, Any]:
        rows = [
            (*job_row(entry.job, document), *moving_row(entry))
            for entry, document in zip(entries, documents, strict=True)
        ]
        try:
            found = await self.database.single(lambda session: session.many("add_jobs", rows))
        except StoreError as error:
            if not is_taken(error.__cause__):
                raise
        else:
            if not any(row["taken"] for row in found):
                return {}
        return await super()._added(entries, documents)
