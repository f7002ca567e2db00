"""Where the executor gets secrets from, at the moment an attempt is sent."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import partial

from tickwell.errors import StoreCorrupt
from tickwell.ports.records import Record
from tickwell.ports.store import RecordStore
from tickwell.services.keyring import Keyring
from tickwell.services.recall import Recall
from tickwell.services.secrets.envelope import unseal
from tickwell.services.secrets.place import KIND, place
from tickwell.services.time import Time


class StoredSecrets:
    """`executors.http.secrets.Secrets`. Envelopes are remembered briefly, values never."""

    def __init__(self, store: RecordStore, clock: Time, load: Callable[[], Keyring | None]) -> None:
        self._store = store
        self._clock = clock
        #: Called when the first secret is needed: most processes need none.
        self._load = load
        self._keyring: Keyring | None = None
        self._recall: Recall[tuple[str, str], Record | None] = Recall(clock)

    async def get(self, project: str, names: Iterable[str]) -> Mapping[str, str]:
        found = {}
        for name in names:
            record = await self._recall.get((project, name), partial(self._read, project, name))
            if record is not None:
                found[name] = self._open(project, record)
        return found

    async def _read(self, project: str, name: str) -> Record | None:
        return await self._store.get_record(KIND, project, name, self._clock.now())

    def _open(self, project: str, record: Record) -> str:
        document = record.document
        where = place(project, record.key, document["version"])
        try:
            return unseal(self._keys(), document["sealed"], where).decode()
        except StoreCorrupt as error:
            raise StoreCorrupt(f"secret {record.key!r} cannot be opened: {error}") from None

    def _keys(self) -> Keyring:
        if self._keyring is None:
            self._keyring = self._load()
        if self._keyring is None:
            raise StoreCorrupt("there is no key file and no TICKWELL_SECRET_KEYS here")
        return self._keyring
