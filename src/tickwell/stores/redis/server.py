"""Checks whether a server can be used, and what it can promise, before anything is written."""

from __future__ import annotations

from random import SystemRandom
from threading import Lock
from typing import Any

from tickwell.domain.promises import REDIS_ALWAYS, REDIS_EVERYSEC, REDIS_VOLATILE, Promises
from tickwell.errors import SchemaTooNew, StoreRefused
from tickwell.stores.redis.client import Client
from tickwell.stores.redis.errors import DRIVER, lost

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
            f"{name} holds another program's key under a name of Tickwell's; set another ?prefix="
        )
    if int(schema) > SCHEMA:
        raise SchemaTooNew(name, int(schema), SCHEMA)
    return epoch


#: The oldest server that knows script flags.
OLDEST = 7


async def check(client: Client) -> Promises:
    """Raise `StoreRefused` for a server that cannot be used; else return what it can promise."""
    where, facts = client.location.name, await _facts(client)
    version = str(facts.get("redis_version", "0"))
    if int(version.split(".", 1)[0]) < OLDEST:
        raise StoreRefused(f"{where} is Redis {version}; 7.0 or newer is needed")
    if int(facts.get("cluster_enabled", 0)):
        raise StoreRefused(
            f"{where} is a cluster node; name a standalone server: all keys have to be in one hash"
            " slot, which a cluster cannot distribute"
        )
    if facts.get("role") == "slave":
        raise StoreRefused(f"{where} is a replica; name the primary server")
    policy = str(facts.get("maxmemory_policy", "noeviction"))
    if int(facts.get("maxmemory", 0)) and policy != "noeviction":
        raise StoreRefused(
            f"{where} evicts keys when memory runs out (maxmemory-policy {policy}), and would lose"
            " jobs; turn that off: CONFIG SET maxmemory-policy noeviction"
        )
    return await _promises(client, facts)


async def _facts(client: Client) -> dict[str, Any]:
    try:
        facts: dict[str, Any] = await client.redis.info("everything")
    except DRIVER as error:
        raise client.translate(error) from error
    return facts


async def _promises(client: Client, facts: dict[str, Any]) -> Promises:
    if not int(facts.get("aof_enabled", 0)):
        return REDIS_VOLATILE
    try:
        answer = await client.redis.config_get("appendfsync")
    except DRIVER:  # a hosted server often refuses: promise what its default does
        answer = {}
    return REDIS_ALWAYS if answer.get("appendfsync") == "always" else REDIS_EVERYSEC
