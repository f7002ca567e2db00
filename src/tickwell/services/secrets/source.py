"""Where the executor gets secrets from, at the moment an attempt is sent."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from functools import partial

from tickwell.errors import StoreCorrupt
from tickwell.executors.http.request.values import Sealed, Unsendable
from tickwell.ports.records import Record
from tickwell.ports.store import RecordStore
from tickwell.services.keyring import Keyring
from tickwell.services.secrets.envelope import unseal
from tickwell.services.secrets.hosts import allows, refusal
from tickwell.services.secrets.secret import KIND, binding
from tickwell.services.time import Time
from tickwell.services.ttl_cache import TtlCache


class StoredSecrets:
    """`executors.http.secrets.Secrets`. Envelopes are remembered briefly, values never."""

    def __init__(self, store: RecordStore, clock: Time, load: Callable[[], Keyring | None]) -> None:
        self._store = store
        self._clock = clock
        #: Called when the first secret is needed: most processes need none.
        self._load = load
        self._keyring: Keyring | None = None
        self._cache: TtlCache[tuple[str, str], Record | None] = TtlCache(clock)

    async def get(self, project: str, names: Mapping[str, Collection[str]]) -> Mapping[str, str]:
        found = {}
        for name, hosts in names.items():
            record = await self._cache.get((project, name), partial(self._read, project, name))
            if record is not None:
                _require_allowed(record, hosts)
                found[name] = self._open(project, record)
        return found

    async def _read(self, project: str, name: str) -> Record | None:
        return await self._store.get_record(KIND, project, name, self._clock.now())

    def _open(self, project: str, record: Record) -> str:
        document = record.document
        keyring = self._keys(document["sealed"]["kek"])
        where = binding(project, record.key, document["version"])
        try:
            return unseal(keyring, document["sealed"], where).decode()
        except StoreCorrupt as error:
            raise StoreCorrupt(f"secret {record.key!r} cannot be opened: {error}") from None

    def _keys(self, needed: str) -> Keyring:
        if self._keyring is None or self._keyring.find(needed) is None:
            self._keyring = self._load()  # it may have been added since
        if self._keyring is None:
            raise Sealed("there is no key file and no TICKWELL_SECRET_KEYS here")
        if self._keyring.find(needed) is None:
            raise Sealed(
                f"its secrets are sealed with the server key {needed}, which is not known here;"
                " add it to TICKWELL_SECRET_KEYS or to the key file"
            )
        return self._keyring


def _require_allowed(record: Record, hosts: Collection[str]) -> None:
    for host in sorted(hosts):
        if not allows(record.document.get("hosts", []), host):
            raise Unsendable(refusal(record.key, host))
