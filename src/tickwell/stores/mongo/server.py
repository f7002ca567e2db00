"""Checks whether a server and a database can be used, before anything is written."""

from __future__ import annotations

from typing import Any

from pymongo.errors import OperationFailure

from tickwell.errors import SchemaTooNew, StoreRefused
from tickwell.stores.mongo.codec import FIRST_ENDED
from tickwell.stores.mongo.database import COLLECTIONS, Database
from tickwell.stores.mongo.indexes import make_indexes

#: The oldest server that Tickwell is meant for.
OLDEST = (5, 0)
#: The schema that this Tickwell writes.
SCHEMA = 1
_ACTIONS = ("find", "insert", "update", "remove")
_MAKING = ("createCollection", "createIndex", "listIndexes")


async def prepare(database: Database, *, makes: bool = True) -> None:
    """Check the server, then make what is missing."""
    hello = await database.handle.command("hello")
    where = database.location.name
    database.is_replicated = "setName" in hello
    await _check_version(database)
    if not hello.get("isWritablePrimary"):
        raise StoreRefused(
            f"{where} is read-only, as a secondary is; name the primary, or all members with"
            " ?replicaSet="
        )
    await _check_rights(database)
    known = await _known(database)
    if known is None:
        await _check_strangers(database)
        if not makes:
            raise StoreRefused.nothing_in(where)
    elif known > SCHEMA:
        raise SchemaTooNew(where, known, SCHEMA)
    if makes:
        await make_indexes(database)
        noted = {"application": "tickwell", "schema": SCHEMA, "first_ended": FIRST_ENDED}
        await database.meta.update_one({"_id": "tickwell"}, {"$setOnInsert": noted}, upsert=True)


async def _check_version(database: Database) -> None:
    info = await database.handle.command("buildInfo")
    if tuple(info["versionArray"][:2]) < OLDEST:
        raise StoreRefused(
            f"{database.location.name} is MongoDB {info['version']}; 5.0 or newer is needed"
        )


async def _known(database: Database) -> int | None:
    noted = await database.meta.find_one({"_id": "tickwell"})
    if noted is None or noted.get("application") != "tickwell":
        return None
    return int(noted["schema"])


async def _check_strangers(database: Database) -> None:
    """Raise `StoreRefused` for collections of another application with Tickwell's names."""
    there = set(await database.handle.list_collection_names())
    for name in sorted(there.intersection(COLLECTIONS)):
        if await database.handle[name].find_one({}, {"_id": 1}) is not None:
            raise StoreRefused(
                f"{database.location.name} has a collection {name} that is not Tickwell's;"
                " name another database in the URL"
            )


async def _check_rights(database: Database) -> None:
    """Raise `StoreRefused` for a missing right, with the command that grants it."""
    try:
        status = await database.client.admin.command("connectionStatus", showPrivileges=True)
    except OperationFailure:
        return  # a missing right is reported by the first write
    info = status["authInfo"]
    if not info["authenticatedUsers"]:
        return  # without a login; a server that requires one refuses the first write
    name = database.location.database
    granted = _granted(info["authenticatedUserPrivileges"], name)
    missing = [action for action in (*_ACTIONS, *_MAKING) if action not in granted]
    if missing:
        user = info["authenticatedUsers"][0]
        raise StoreRefused(
            f"{database.location.name}: {user['user']} may not {missing[0]} in {name}; as an"
            f' administrator, in {user["db"]}: db.grantRolesToUser("{user["user"]}",'
            f' [{{role: "readWrite", db: "{name}"}}])'
        )


def _granted(privileges: list[dict[str, Any]], database: str) -> set[str]:
    """The actions that are allowed in all collections of a database."""
    granted: set[str] = set()
    for privilege in privileges:
        resource = privilege["resource"]
        everywhere = resource.get("anyResource") or resource.get("db") in {"", database}
        if everywhere and not resource.get("collection"):
            granted.update(privilege["actions"])
    return granted
