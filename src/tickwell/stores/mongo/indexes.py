"""The indexes: created and checked when a store is opened."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from tickwell.errors import StoreRefused
from tickwell.ports.records import Flaw
from tickwell.stores.mongo.codec import (
    DELETED,
    FIRST_ENDED,
    PARKED,
    QUEUED,
    RUNNING,
    WAITING,
)
from tickwell.stores.mongo.database import Database

_KEY = {"waits": "key"}
_JOB = {"waits": "job"}


@dataclass(frozen=True, slots=True)
class Index:
    """One index of one collection."""

    collection: str
    name: str
    keys: tuple[tuple[str, int], ...]
    options: dict[str, Any] = field(default_factory=dict)


def _partial(**where: Any) -> dict[str, Any]:
    return {"partialFilterExpression": where}


_THERE = {"$exists": True}
_LISTED = (("project", 1), ("name", 1), ("_id", 1))

INDEXES = (
    # Jobs: due jobs for the planner; unique names and keys; lists; unfinished operations.
    Index("jobs", "due", (("next", 1), ("_id", 1)), _partial(next=_THERE)),
    Index("jobs", "turn", (("project", 1), ("next", 1), ("_id", 1)), _partial(next=_THERE)),
    Index(
        "jobs",
        "name",
        (("project", 1), ("name", 1)),
        {"unique": True, **_partial(state={"$lt": DELETED})},
    ),
    Index(
        "jobs",
        "dedupe",
        (("project", 1), ("dedupe", 1)),
        {"unique": True, **_partial(dedupe=_THERE)},
    ),
    Index("jobs", "list", _LISTED),
    Index("jobs", "app", (("app", 1), *_LISTED), _partial(app=_THERE)),
    Index("jobs", "removable", _LISTED, _partial(auto_remove=True)),
    Index("jobs", "outbox", (("outbox.op", 1),), _partial(outbox=_THERE)),
    Index("jobs", "batch", (("batch", 1),), _partial(batch=_THERE)),
    Index("jobs", "prune", (("prune_at", 1), ("_id", 1)), _partial(prune_at=_THERE)),
    Index("jobs", "deleted", (("state", 1),), _partial(state=DELETED)),
    # Executions. Unique by fire is the id itself.
    Index(
        "executions",
        "claim",
        (("queue", 1), ("rank", 1), ("_id", 1)),
        _partial(state=QUEUED),
    ),
    # The lanes of what is queued or parked, for health: which hold something is a seek for each.
    Index(
        "executions",
        "lane",
        (("state", 1), ("queue", 1), ("ability", 1), ("rank", 1), ("_id", 1)),
        _partial(state={"$gte": PARKED, "$lte": QUEUED}),
    ),
    Index("executions", "run", (("run_at", 1), ("queue", 1)), _partial(state=QUEUED)),
    Index("executions", "due", (("look_at", 1), ("_id", 1)), _partial(state=WAITING)),
    Index(
        "executions",
        "expire",
        (("expires_at", 1), ("_id", 1)),
        _partial(expires_at=_THERE, state={"$lt": RUNNING}),
    ),
    Index("executions", "worker", (("worker", 1), ("_id", 1)), _partial(state=RUNNING)),
    Index("executions", "deadline", (("deadline", 1),), _partial(state=RUNNING)),
    Index("executions", "before_job", (("job", 1), ("rank", 1), ("_id", 1)), _partial(**_JOB)),
    Index("executions", "before_key", (("gate", 1), ("rank", 1), ("_id", 1)), _partial(**_KEY)),
    Index("executions", "still", (("state", 1), ("_id", 1)), _partial(state={"$lt": QUEUED})),
    Index(
        "executions",
        "ended",
        (("project", 1), ("state", 1), ("_id", 1)),
        _partial(state={"$gte": FIRST_ENDED}),
    ),
    Index("executions", "job", (("job", 1), ("_id", 1))),
    Index("executions", "project", (("project", 1), ("_id", 1))),
    Index("executions", "key", (("job", 1), ("key", 1)), _partial(key=_THERE)),
    # Runs that a later request may find to be the same: those that are live, and the newest.
    Index(
        "executions",
        "same_live",
        (("job", 1), ("unique", 1)),
        _partial(unique=_THERE, state={"$lt": FIRST_ENDED}),
    ),
    Index(
        "executions",
        "same",
        (("job", 1), ("unique", 1), ("created_at", -1)),
        _partial(unique=_THERE),
    ),
    Index(
        "executions",
        "over_held",
        (("holds_job", 1),),
        _partial(holds_job=True, state={"$gte": FIRST_ENDED}),
    ),
    Index("executions", "frozen", (("frozen", 1),), _partial(frozen=_THERE)),
    # The rest.
    Index("skips", "job", (("job", 1), ("first", 1))),
    Index("records", "expire", (("expires_at", 1),), _partial(expires_at=_THERE)),
    # A safety net for records that are not pruned: by the server's clock, a day later.
    Index("records", "forget", (("forget", 1),), {"expireAfterSeconds": 86_400}),
)

#: The options by which indexes are compared.
_TELLING = ("unique", "partialFilterExpression", "expireAfterSeconds", "sparse")


async def make_indexes(database: Database) -> None:
    """Create missing indexes; raise `StoreRefused` for one that exists with other options."""
    missing, other = await _compare(database)
    if other:
        raise StoreRefused(
            f"{database.location.name}: {_difference(other[0])}; drop it and start again:"
            f" {_drop(other[0])}"
        )
    for index in missing:
        await database.handle[index.collection].create_index(
            list(index.keys), name=index.name, **index.options
        )


async def flaws(database: Database) -> list[Flaw]:
    """Missing or different indexes; opening the store creates missing ones."""
    missing, other = await _compare(database)
    make = "tickwell store migrate"
    return [
        *(Flaw(f"the index {_named(each)} is missing", f"Create it: {make}") for each in missing),
        *(Flaw(_difference(each), f"Recreate it: {_drop(each)}, then {make}") for each in other),
    ]


async def _compare(database: Database) -> tuple[list[Index], list[Index]]:
    """Missing indexes, and those that exist with other keys or options."""
    missing: list[Index] = []
    other: list[Index] = []
    found: dict[str, dict[str, Any]] = {}
    for index in INDEXES:
        if index.collection not in found:
            cursor = await database.handle[index.collection].list_indexes()
            found[index.collection] = {one["name"]: dict(one) async for one in cursor}
        there = found[index.collection].get(index.name)
        if there is None:
            missing.append(index)
        elif not _is_same(index, there):
            other.append(index)
    return missing, other


def _is_same(index: Index, there: dict[str, Any]) -> bool:
    keys = tuple((name, int(way)) for name, way in dict(there["key"]).items())
    asked = {name: index.options.get(name) for name in _TELLING}
    existing = {name: _plain(there.get(name)) for name in _TELLING}
    return keys == index.keys and existing == asked


def _named(index: Index) -> str:
    return f"{index.name} of {index.collection}"


def _difference(index: Index) -> str:
    return f"the index {_named(index)} has other keys or options than Tickwell's"


def _drop(index: Index) -> str:
    return f'db.{index.collection}.dropIndex("{index.name}")'


def _plain(value: Any) -> Any:
    return (
        {name: _plain(each) for name, each in value.items()} if hasattr(value, "items") else value
    )
