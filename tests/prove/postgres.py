"""The server of the proofs on PostgreSQL."""

import asyncio
from itertools import cycle
from pathlib import Path
from typing import Any

import asyncpg

from tests.faults.postgres.victim import Victim, victim
from tests.processes.site import Site

_ENDS = cycle((Victim.kill, Victim.stop_at_once))
TERMINATE = """
SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity WHERE application_name = 'tickwell'
"""


def site_on_postgres(folder: Path, name: str) -> Site:
    """A schema of its own for a proof."""
    schema = name.replace("-", "_")
    ask(durable().url, f"DROP SCHEMA IF EXISTS {schema} CASCADE")
    return Site(folder, f"{durable().url}?schema={schema}")


def durable() -> Victim:
    """Of which nobody else wants anything."""
    server: Victim = victim()
    return server


def crash() -> None:
    """-9 and an immediate stop in turn; it comes back with what it has acknowledged."""
    next(_ENDS)(durable())
    durable().start()


def terminate(store: str) -> int:
    """End all connections of ours; how many there were."""
    ended: int = ask(store.partition("?")[0], TERMINATE)
    return ended


def ask(url: str, question: str) -> Any:
    """Ask as the owner."""

    async def answer() -> Any:
        connection = await asyncpg.connect(url)
        try:
            return await connection.fetchval(question)
        finally:
            await connection.close()

    return asyncio.run(answer())
