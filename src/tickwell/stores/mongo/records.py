"""The service's documents on MongoDB."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from pymongo import UpdateOne
from pymongo.errors import DuplicateKeyError

from tickwell.ports.records import Record
from tickwell.stores.mongo.client import Part
from tickwell.stores.mongo.codec import clean
from tickwell.stores.mongo.database import Document
from tickwell.stores.mongo.errors import translate_errors
from tickwell.stores.sql.rows.documents import JOB_VERSION, LAST


class MongoRecords(Part):
    """`ports.store.RecordStore`."""

    @translate_errors
    async def put_record(
        self, record: Record, now: int, expected_version: int | None = None
    ) -> bool:
        id = record_id(record.kind, record.project, record.key)
        if expected_version == 0:
            return await self._put_new(id, self._written(record, now), now)
        where: Document = {"_id": id}
        if expected_version is not None:
            where |= {"version": expected_version, **_unexpired(now)}
        upsert = expected_version is None
        changed = await self.database.records.update_one(
            where, self._replacing(record, now), upsert=upsert
        )
        return changed.matched_count > 0 or changed.upserted_id is not None

    @translate_errors
    async def put_records(self, records: Sequence[Record], now: int) -> None:
        if records:
            changes = [
                UpdateOne(
                    {"_id": record_id(one.kind, one.project, one.key)},
                    self._replacing(one, now),
                    upsert=True,
                )
                for one in records
            ]
            await self.database.records.bulk_write(changes, ordered=False)

    def _replacing(self, record: Record, now: int) -> list[Document]:
        """The stages of an update that writes a record as its next version."""
        written = self._written(record, now)
        stages: list[Document] = [
            {"$set": {"version": _next_version(now), **written}},
            {"$unset": [name for name in ("expires_at", "forget") if name not in written]},
        ]
        return [stage for stage in stages if stage != {"$unset": []}]

    def _written(self, record: Record, now: int) -> Document:
        """The fields of a record except its version, for a stage of an update."""
        written: Document = {"document": {"$literal": json.dumps(record.document)}}
        if record.expires_at is not None:
            written["expires_at"] = record.expires_at
            # By the server's clock: `now` may be a simulated time.
            written["forget"] = {"$add": ["$$NOW", max(record.expires_at - now, 0)]}
        return written

    async def _put_new(self, id: str, written: Document, now: int) -> bool:
        """Insert a record unless it exists; an expired one does not exist."""
        records = self.database.records
        await records.delete_one({"_id": id, "expires_at": {"$lte": now}})
        fresh = {"_id": id, "version": {"$exists": False}}
        try:
            await records.update_one(fresh, [{"$set": {"version": 1, **written}}], upsert=True)
        except DuplicateKeyError:
            return False
        return True

    @translate_errors
    async def get_record(self, kind: str, project: str, key: str, now: int) -> Record | None:
        doc = await self.database.records.find_one(
            {"_id": record_id(kind, project, key), **_unexpired(now)}
        )
        return None if doc is None else record_of(doc)

    @translate_errors
    async def list_records(
        self, kind: str, project: str, prefix: str, now: int, limit: int = 1000
    ) -> list[Record]:
        begin = record_id(kind, project, prefix)
        span = {"$gte": begin, "$lt": begin + LAST}
        found = self.database.records.find(
            {"_id": span, **_unexpired(now)}, sort=[("_id", 1)], limit=limit
        )
        return [record_of(doc) async for doc in found]

    @translate_errors
    async def delete_record(self, kind: str, project: str, key: str) -> bool:
        gone = await self.database.records.delete_one({"_id": record_id(kind, project, key)})
        return gone.deleted_count > 0


def version_record(project: str, key: str, document: Any) -> Document:
    """The record of a former definition of a job."""
    id = record_id(JOB_VERSION, project, key)
    return {"_id": id, "document": json.dumps(document), "version": 1}


def version_prefix(project: str, key: str) -> str:
    """The prefix of the ids of former definitions, for a prefix of their keys."""
    return record_id(JOB_VERSION, project, key)


def record_id(kind: str, project: str, key: str) -> str:
    """One text, so that a prefix of the key is a prefix of the id; names hold no line ends."""
    return clean(f"{kind}\n{project}\n{key}") or ""


def _unexpired(now: int) -> Document:
    return {"$or": [{"expires_at": {"$exists": False}}, {"expires_at": {"$gt": now}}]}


def _next_version(now: int) -> Document:
    """One more than the current version; an expired record has none."""
    expired = {"$lte": [{"$ifNull": ["$expires_at", now + 1]}, now]}
    return {"$cond": [expired, 1, {"$add": [{"$ifNull": ["$version", 0]}, 1]}]}


def record_of(doc: Document) -> Record:
    """The record of a document."""
    kind, project, key = doc["_id"].split("\n", 2)
    return Record(
        kind=kind,
        project=project,
        key=key,
        document=json.loads(doc["document"]),
        version=doc["version"],
        expires_at=doc.get("expires_at"),
    )
