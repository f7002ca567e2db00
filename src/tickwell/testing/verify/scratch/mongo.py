"""A separate database on the same server."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from urllib.parse import parse_qsl, urlunsplit

from tickwell.domain.store_url import split_store_url
from tickwell.errors import StoreRefused
from tickwell.stores.mongo.database import Database
from tickwell.stores.mongo.errors import NO_RIGHT, codes_of, translate_errors
from tickwell.stores.mongo.url import parse
from tickwell.testing.verify.scratch.scratch_store import DocumentScratch, with_option


class MongoScratch(DocumentScratch):
    """One database."""

    def __init__(self, url: str, tag: str) -> None:
        self.url = _with_database(url, tag)
        self._location = parse(self.url)
        self.name = f"the database {self._location.name}"

    @translate_errors
    async def empty(self) -> None:
        async with self._opened() as database:
            for name in await database.handle.list_collection_names():
                if name != "meta":
                    await database.handle[name].delete_many({})

    async def drop(self) -> None:
        try:
            await self._drop()
        except StoreRefused as error:
            if error.__cause__ is None or NO_RIGHT not in codes_of(error.__cause__):
                raise
            raise StoreRefused(
                f"this user may not create and remove {self.name}; verify as a user with the roles"
                " readWriteAnyDatabase and dbAdminAnyDatabase"
            ) from error

    @translate_errors
    async def _drop(self) -> None:
        async with self._opened() as database:
            await database.client.drop_database(self._location.database)

    @translate_errors
    async def swap(self, job: str, document: str) -> str:
        async with self._opened() as database:
            before = await database.jobs.find_one_and_update(
                {"_id": job}, {"$set": {"document": document}}
            )
        return str((before or {})["document"])

    @asynccontextmanager
    async def _opened(self) -> AsyncIterator[Database]:
        database = Database(self._location)
        database.connect()
        try:
            yield database
        finally:
            await database.close()


def _with_database(url: str, name: str) -> str:
    """The URL with another database; the user is still authenticated in the old one."""
    parts = split_store_url(url)
    names = {key.lower() for key, _ in parse_qsl(parts.query, keep_blank_values=True)}
    moved = urlunsplit(parts._replace(path=f"/{name}"))
    if "@" not in parts.netloc or "authsource" in names or "authmechanism" in names:
        return moved
    return with_option(moved, "authSource", parts.path.strip("/") or "admin")
