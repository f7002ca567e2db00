"""Runs requested on the caller's connection to the same database.

The execution is recorded as waiting and due, and takes no lock that a fire, a claim or an end of an
execution needs: a caller may take its time until it commits.
"""

from __future__ import annotations

import asyncio
import json
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from random import SystemRandom
from typing import Any

from tickwell.errors import InvalidInput, StoreRefused
from tickwell.ports.transactional import Maker
from tickwell.stores.postgres import on_asyncpg, on_psycopg
from tickwell.stores.postgres.errors import DRIVER, translate
from tickwell.stores.postgres.requesting import Request
from tickwell.stores.postgres.session import Session
from tickwell.stores.postgres.upkeep import PostgresUpkeep
from tickwell.stores.sql.alchemy import driver_of, driver_of_async
from tickwell.stores.sql.server.locks import Locks


class PostgresTransactional(PostgresUpkeep):
    """`ports.transactional.TransactionalStore`, and pruning, which counts what it left open."""

    #: Learned once: no two stores share it.
    _request: Request | None = None

    def add_on(self, connection: Any, project: str, job_key: str, make: Maker) -> str:
        given = driver_of(connection)
        if on_asyncpg.is_one(given) or (
            on_psycopg.is_one(given) and on_psycopg.must_be_awaited(given)
        ):
            raise InvalidInput(
                "the connection has to be awaited",
                field="connection",
                hint="Use await scheduler.transactions.trigger_async(…)",
            )
        if not on_psycopg.is_one(given):
            raise _unknown(given)
        if self._request is None:
            # In a thread, since the caller's may have a loop that runs.
            with ThreadPoolExecutor(1) as thread:
                self._request = thread.submit(asyncio.run, self._learn()).result()
        return on_psycopg.run(given, self._request.steps(project, job_key, make))

    async def add_on_async(self, connection: Any, project: str, job_key: str, make: Maker) -> str:
        given = await driver_of_async(connection)
        if on_asyncpg.is_one(given):
            run = on_asyncpg.run_async
        elif on_psycopg.is_one(given) and on_psycopg.must_be_awaited(given):
            run = on_psycopg.run_async
        elif on_psycopg.is_one(given):
            raise InvalidInput(
                "the connection cannot be awaited",
                field="connection",
                hint="Use scheduler.transactions.trigger(…)",
            )
        else:
            raise _unknown(given)
        if self._request is None:
            self._request = await self._learn()
        return await run(given, self._request.steps(project, job_key, make))

    async def prune(self, now: int, limit: int) -> int:
        while await self.database.write(lambda session: _count(session, limit)) >= limit:
            pass
        return await super().prune(now, limit)

    async def _learn(self) -> Request:
        """Ask the store itself, beside its pool: that one belongs to the scheduler's loop."""
        where = self.database.location.name
        try:
            connection = await self.database.connect()
            try:
                session = Session(connection, self.database.sql)
                database, has_tables = await session.row("whereabouts")
                if not has_tables:
                    raise StoreRefused(f"{where} has no tables yet; start the scheduler once")
                await session.run("make_identity", f"{SystemRandom().getrandbits(128):032x}")
                identity = await session.value("identity")
            finally:
                await connection.close()
        except DRIVER as error:
            raise translate(error, where) from error
        return Request(
            sql=self.database.sql,
            cache=self.cache,
            where=where,
            database=database,
            identity=identity,
            channel=self.bell.channel,
        )


async def _count(session: Session, limit: int) -> int:
    """Have jobs count executions that were recorded without their locks; how many there were."""
    notes = [json.loads(text) for (text,) in await session.rows("take_uncounted", limit)]
    made = Counter(note["job"] for note in notes)
    prune_at = {note["job"]: note["prune_at"] for note in reversed(notes)}
    locks = Locks(session)
    await locks.jobs(made)
    await session.many(
        "count_made",
        [(made[job], head.holder, prune_at[job], job) for job, head in locks.heads.items()],
    )
    return len(notes)


def _unknown(connection: Any) -> InvalidInput:
    kind = type(connection)
    return InvalidInput(
        f"{kind.__module__}.{kind.__name__} is no connection that Tickwell knows",
        field="connection",
        hint="Pass one of asyncpg, psycopg 3, or SQLAlchemy on one of them",
    )
