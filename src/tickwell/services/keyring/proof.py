"""Whether this process has the keys that the store was written with."""

from __future__ import annotations

from collections.abc import Collection
from typing import cast

from tickwell.errors import InvalidSetting
from tickwell.ports.records import Record
from tickwell.ports.store import RecordStore
from tickwell.services.keyring.keyring import Keyring
from tickwell.services.keyring.source import key_path, load_keys
from tickwell.services.projects.platform import PLATFORM
from tickwell.settings import Settings

KIND = "server_key"


async def find_keys(store: RecordStore, settings: Settings, now: int) -> Keyring:
    """The keys of a store; made where it has none yet, never for one that was written with others.

    A key that was made in vain would stand where the right one is to be copied to.
    """
    return await check_keys(store, settings, now) or cast("Keyring", load_keys(settings, make=True))


async def check_keys(store: RecordStore, settings: Settings, now: int) -> Keyring | None:
    """The keys that are there, if any; refused when the store was written with others."""
    known, path = load_keys(settings, make=False), key_path(settings)
    where = f" to {path}" if known is None and path is not None else ""
    _require(await _used(store, now), known.ids if known else (), where)
    return known


async def require_keys(store: RecordStore, keyring: Keyring, now: int) -> None:
    """Refuse to go on without a key that is in use; remember the ids of those that are.

    Else a second machine would make keys of its own, and neither could read what the other wrote.
    """
    used = await _used(store, now)
    _require(used, keyring.ids)
    current = keyring.current.id
    if current not in used:
        record = Record(kind=KIND, project=PLATFORM, key=current, document={"since": now})
        await store.put_record(record, now, 0)


async def retire_keys(store: RecordStore, current: str, needed: Collection[str], now: int) -> None:
    """Ask no more for those from before the current one that nothing needs."""
    records = await store.list_records(KIND, PLATFORM, "", now)
    since = {record.key: record.document["since"] for record in records}
    for id in since.keys() - {*needed, current}:
        # A newer one is another process's: there the keys are changed already, and not yet here.
        if since[id] < since.get(current, 0):
            await store.delete_record(KIND, PLATFORM, id)


async def _used(store: RecordStore, now: int) -> set[str]:
    return {record.key for record in await store.list_records(KIND, PLATFORM, "", now)}


def _require(used: set[str], known: Collection[str], where: str = "") -> None:
    missing = used - set(known)
    if missing:
        raise InvalidSetting(
            f"the store was written with the server key {min(missing)}, which is not known here",
            field="secret_keys",
            hint=f"Copy the key file from where it was made{where}, or set TICKWELL_SECRET_KEYS",
        )
