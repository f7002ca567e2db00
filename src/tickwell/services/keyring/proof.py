"""Whether this process has the keys that the store was written with."""

from __future__ import annotations

from tickwell.errors import InvalidSetting
from tickwell.ports.records import Record
from tickwell.ports.store import RecordStore
from tickwell.services.keyring.keyring import Keyring
from tickwell.services.platform import PLATFORM

KIND = "server_key"


async def require_keys(store: RecordStore, keyring: Keyring, now: int) -> None:
    """Refuse to go on without a key that is in use; remember the ids of those that are.

    Else a second machine would make keys of its own, and neither could read what the other wrote.
    """
    used = {record.key for record in await store.list_records(KIND, PLATFORM, "", now)}
    missing = used - set(keyring.ids)
    if missing:
        raise InvalidSetting(
            f"the store was written with the server key {min(missing)}, which is not known here",
            field="secret_keys",
            hint="Copy the key file from where it was made, or set TICKWELL_SECRET_KEYS",
        )
    current = keyring.current.id
    if current not in used:
        record = Record(kind=KIND, project=PLATFORM, key=current, document={"since": now})
        await store.put_record(record, now, 0)


async def retire_key(store: RecordStore, id: str) -> None:
    """Nothing is sealed with it any more: it may be taken out of the file."""
    await store.delete_record(KIND, PLATFORM, id)
