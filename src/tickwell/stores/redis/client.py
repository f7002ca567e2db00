"""What all parts of the store share: scripts by name, parsed jobs, and the bell."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from hashlib import sha1
from importlib.resources import files
from random import SystemRandom
from typing import Any

from redis import exceptions
from redis.asyncio import Redis

from tickwell.domain.execution import Claim
from tickwell.domain.job import Job
from tickwell.errors import StoreError
from tickwell.stores.redis.connection import Command, connect
from tickwell.stores.redis.errors import DRIVER, translate
from tickwell.stores.redis.notifier import Bell, Ear
from tickwell.stores.redis.rows import claim_of, dumps
from tickwell.stores.redis.url import Location
from tickwell.stores.sql.cache import JobCache

_HEAD = re.compile(r"^-- (flags|needs): (.*)\n", re.MULTILINE)
_COMMENT = re.compile(r"^\s*--.*\n", re.MULTILINE)

#: Scripts without an epoch: the one that creates it, and those of the sidecar.
WITHOUT_EPOCH = frozenset({"open", "lease", "give_up"})


@dataclass(frozen=True, slots=True)
class Script:
    """One operation, as the server runs it."""

    name: str
    text: str
    #: The server's name for it.
    digest: str


@cache
def script(name: str) -> Script:
    """The script of an operation. Its first lines say which flags and which shared parts it needs.

    Flags are the server's: without any, nothing runs once memory is full; `allow-oom` is for
    scripts that end or free something, `no-writes` for those that only read.
    """
    folder = files("tickwell.stores.redis").joinpath("scripts")
    body = folder.joinpath(f"{name}.lua").read_text("utf-8")
    head = dict(_HEAD.findall(body))
    parts = [] if name in WITHOUT_EPOCH else ["start", *head.get("needs", "").split()]
    shared = [folder.joinpath("shared", f"{part}.lua").read_text("utf-8") for part in parts]
    code = _COMMENT.sub("", "\n".join([*shared, body]))
    text = f"#!lua flags={head.get('flags', '')}\n{code}"
    return Script(name, text, sha1(text.encode(), usedforsecurity=False).hexdigest())


class Client:
    """Calls scripts. Each call names the epoch, so that it never reaches another store's data."""

    redis: Redis
    #: Tells other processes of writes, and hears theirs.
    bell: Bell
    ear: Ear

    def __init__(self, location: Location) -> None:
        self.location = location
        self.epoch = ""
        self._epoch_key = location.key("epoch")
        self.cache = JobCache()
        self.connect()

    def connect(self) -> None:
        """Make new connections, which belong to the event loop that uses them first."""
        self.redis = connect(self.location, self.location.pool)
        self._send: Command = self.redis.execute_command
        channel, sender = self.location.key("bell"), f"{SystemRandom().getrandbits(64):016x}"
        self.bell = Bell(self.run, channel, sender)
        self.ear = Ear(self.location, channel, sender)

    async def run(self, *parts: str | int | bytes) -> Any:
        """Send a command, and answer the reply or raise one of the driver's errors."""
        try:
            return await self._send(*parts)
        except RuntimeError as error:
            if "the handler is closed" not in str(error):
                raise
            # uvloop's error for a connection that was cut just now; the driver passes it on.
            raise exceptions.ConnectionError(str(error)) from error

    async def call(self, name: str, *arguments: str | int | bytes) -> Any:
        """Run a script; the server learns it when it does not know it yet."""
        known = script(name)
        command = 1, self._epoch_key, self.epoch, *arguments
        try:
            try:
                return await self.run("EVALSHA", known.digest, *command)
            except exceptions.NoScriptError:
                return await self.run("EVAL", known.text, *command)
        except DRIVER as error:
            raise self.translate(error) from error

    async def command(self, *parts: str | int) -> Any:
        """Run a plain command."""
        try:
            return await self.run(*parts)
        except DRIVER as error:
            raise self.translate(error) from error

    async def answer(self, name: str, *arguments: str | int) -> Any:
        """Run a script that answers in JSON."""
        return json.loads(await self.call(name, *arguments))

    def left_out(self, now: int, *more: str, planning: bool = False) -> str:
        """The jobs that scripts have to leave out, as JSON."""
        return dumps([*self.cache.unreadable.keys(now, planning=planning), *more])

    async def definitions(self, wanted: Sequence[tuple[str, int]], now: int) -> dict[str, Job]:
        """Jobs by id, in these versions or newer; missing and unreadable ones are left out."""
        versions = dict(wanted)
        known = self.cache.many(versions.items())
        jobs = {id: job for id, job in zip(versions, known, strict=True) if job is not None}
        missing = [id for id in versions if id not in jobs]
        if missing:
            documents = await self.call("definitions", dumps(missing))
            for id, document in zip(missing, documents, strict=True):
                row = id, versions[id], document
                job = self.cache.read(id, row, now) if document is not None else None
                if job is not None:
                    jobs[id] = job
        return jobs

    async def claims(self, rows: list[Any], now: int) -> list[Claim]:
        """The claims of rows, except those whose jobs cannot be read here."""
        if not rows:
            return []
        jobs = await self.definitions([(row[1], row[13]) for row in rows], now)
        return [claim_of(row, jobs[row[1]]) for row in rows if row[1] in jobs]

    async def close(self) -> None:
        """Close the connections."""
        await self.ear.close()
        await self.bell.close()
        await self.redis.aclose(close_connection_pool=True)

    def translate(self, error: BaseException) -> StoreError:
        """A driver's error as one of Tickwell's."""
        return translate(error, self.location.name)
