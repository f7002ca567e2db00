"""All records of a kind, however many there are: what is left out would be taken for gone."""

from __future__ import annotations

from collections.abc import AsyncIterator
from string import ascii_lowercase, ascii_uppercase, digits

from tickwell.ports.records import Record
from tickwell.ports.store import RecordStore

#: What keys are made of: names of projects and secrets, and ids.
_SIGNS = f"-{digits}{ascii_uppercase}_{ascii_lowercase}"


async def every_record(
    store: RecordStore,
    kind: str,
    project: str,
    now: int,
    *,
    prefix: str = "",
    page: int = 10_000,
    signs: str = _SIGNS,
) -> AsyncIterator[Record]:
    """Where a page is not enough for a prefix, those with one more sign are read instead."""
    found = await store.list_records(kind, project, prefix, now, page)
    if len(found) < page:
        for record in found:
            yield record
        return
    if found[0].key == prefix:
        yield found[0]
    for sign in signs:
        longer = every_record(
            store, kind, project, now, prefix=prefix + sign, page=page, signs=signs
        )
        async for record in longer:
            yield record
