"""The epoch identifies a store: it tells a flushed database from one that was always empty."""

from __future__ import annotations

from random import SystemRandom
from threading import Lock

from tickwell.errors import SchemaTooNew, StoreRefused
from tickwell.stores.redis.client import Client
from tickwell.stores.redis.errors import lost

#: The layout of keys that this Tickwell writes; it precedes the colon of the epoch.
SCHEMA = 1

_lock = Lock()
#: The stores that this process has open, by name: epoch, and how often it is open.
_seen: dict[str, tuple[str, int]] = {}


async def enter(client: Client, *, makes: bool = True) -> None:
    """Read the epoch; an empty database gets one, unless this process knows an earlier one."""
    name = client.location.name
    with _lock:
        known, _ = _seen.get(name, ("", 0))
    client.epoch = f"{SCHEMA}:{SystemRandom().getrandbits(128):032x}"
    # Read and created by one script: a flush between two commands would start a new store.
    found = await client.call("open", "make" if makes and not known else "")
    if known and found != known.encode():
        raise lost(name)
    if found is None:
        raise StoreRefused.nothing_in(name)
    client.epoch = _checked(found, name)
    with _lock:
        epoch, count = _seen.get(name, (client.epoch, 0))
        if epoch != client.epoch:
            raise lost(name)
        _seen[name] = epoch, count + 1


def leave(client: Client) -> None:
    """Forget the epoch when the last store of this process that has it open is closed."""
    name = client.location.name
    with _lock:
        epoch, count = _seen.get(name, ("", 0))
        if count > 1:
            _seen[name] = epoch, count - 1
        else:
            _seen.pop(name, None)


def _checked(found: bytes, name: str) -> str:
    epoch = found.decode("utf-8", "replace")
    schema = epoch.partition(":")[0]
    if not schema.isdecimal() or ":" not in epoch:
        raise StoreRefused(
            f"{name} holds a key of somebody else's under our name; set another ?prefix="
        )
    if int(schema) > SCHEMA:
        raise SchemaTooNew(name, int(schema), SCHEMA)
    return epoch
